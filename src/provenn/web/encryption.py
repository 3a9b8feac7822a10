"""TLS with a certificate from files: checked before the server starts, and reloaded when the files change."""

import logging
import ssl
import threading
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Final

from provenn.errors import ServerError

__all__ = ["Certificate"]

_LOG = logging.getLogger("provenn.web")
_SECONDS: Final = 10.0
"""Minimum seconds between two checks for changed files."""

_MISMATCHES: Final = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")
_EXPIRED: Final = 10
_NOT_YET: Final = 9


class Certificate:
    """A certificate and its key, reloaded when their files change.

    Parameters
    ----------
    certificate, key
        The files, in PEM: the certificate, followed by the intermediate certificates up to the authority; and its key,
        not encrypted. The key may be in the same file.
    seconds
        Minimum seconds between two checks for changed files.

    Raises
    ------
    ServerError
        If a file cannot be read or parsed, the key does not match, or the certificate is not valid now.
    """

    def __init__(self, certificate: str, key: str, *, seconds: float = _SECONDS) -> None:
        self._paths = (Path(certificate), Path(key))
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stamps = self._read_stamps()
        self._context = _load_context(*self._paths)
        self._checked_at = monotonic()

    def get_context(self) -> ssl.SSLContext:
        """Return the TLS context for a new connection, with the renewed certificate if a usable one exists.

        Unusable files, for instance files in the middle of a replacement, are logged; the last usable certificate stays
        in use meanwhile.
        """
        with self._lock:
            if monotonic() - self._checked_at >= self._seconds:
                self._checked_at = monotonic()
                self._renew()
            return self._context

    def _renew(self) -> None:
        stamps = self._read_stamps()
        if stamps == self._stamps:
            return
        try:
            self._context = _load_context(*self._paths)
        except ServerError as error:
            _LOG.warning("the changed certificate cannot be used: %s", error)
            return
        self._stamps = stamps
        _LOG.info("the certificate was renewed")

    def _read_stamps(self) -> list[tuple[int, int, int] | None]:
        return [_read_stamp(path) for path in self._paths]


def _read_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _load_context(certificate: Path, key: Path) -> ssl.SSLContext:
    for option, path in (("--certificate", certificate), ("--key", key)):
        _check_readable(option, path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except _EncryptedKeyError:
        raise ServerError(
            f"the key {key} is encrypted with a password", hint="remove the password: openssl pkey -in KEY -out NEW"
        ) from None
    except ssl.SSLError as error:
        if error.reason in _MISMATCHES:
            raise ServerError(
                f"the key {key} does not belong to the certificate {certificate}",
                hint="in --certificate put the server's own certificate first, then those of authorities",
            ) from error
        raise ServerError(
            f"the certificate {certificate} with the key {key} cannot be used: {_describe_damage(certificate, key)}",
            hint="both are files in PEM, for example --certificate fullchain.pem --key privkey.pem",
        ) from error
    _check_dates(context, certificate)
    return context


class _EncryptedKeyError(Exception):
    """The key is encrypted with a password."""


def _refuse_password() -> str:
    raise _EncryptedKeyError


def _check_readable(option: str, path: Path) -> None:
    try:
        path.read_bytes()
    except OSError as error:
        raise ServerError(
            f"cannot read {option} {path}: {error.strerror}",
            hint="name a PEM file that the server may read",
        ) from error


def _describe_damage(certificate: Path, key: Path) -> str:
    """Return the reason why OpenSSL cannot read the files."""
    if b"-----BEGIN CERTIFICATE-----" not in certificate.read_bytes():
        return f"{certificate} holds no certificate"
    if b"PRIVATE KEY-----" not in key.read_bytes():
        return f"{key} holds no key"
    return "one of them is damaged"


def _check_dates(context: ssl.SSLContext, certificate: Path) -> None:
    """Check the dates of a certificate by a handshake in memory with a client that trusts exactly this certificate."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    client.load_verify_locations(cafile=certificate)
    try:
        _shake_hands(context, client)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code not in (_EXPIRED, _NOT_YET):
            return  # the error is about a higher authority, which clients may know
        now = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        when = "has expired" if error.verify_code == _EXPIRED else "is not valid yet"
        raise ServerError(f"the certificate {certificate} {when}: it is {now}", hint="renew it") from error
    except ssl.SSLError as error:
        raise ServerError(f"no client could use the certificate {certificate}: {error.reason}") from error


def _shake_hands(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides: list[Any] = [
        client.wrap_bio(to_client, to_server, server_hostname="server"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(10):
        for side in list(sides):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            sides.remove(side)
        if not sides:
            return
