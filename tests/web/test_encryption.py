"""TLS by files: what is wrong with them is told, a server speaks it, and a renewed certificate is picked up."""

import logging
import os
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from provenn.archive.tokens import issue_token
from provenn.errors import ServerError
from provenn.web.connections import ConnectionLimits
from provenn.web.encryption import Certificate
from provenn.web.serving import ServerLimits
from tests.waiting import LIMIT, wait_until
from tests.web.running import is_answered, running

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


def write_pair(folder, name="localhost", *, begins=-DAY, ends=DAY, kind="ec", password=None, authority=None):
    """Write a certificate and its key; return both paths, and both values."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ec" else rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer = subject if authority is None else authority[0].subject
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + begins)
        .not_valid_after(NOW + ends)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key if authority is None else authority[1], hashes.SHA256())
    )
    secret = serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password)
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
    return (*map(str, paths), made, key)


def refusal(certificate, key):
    with pytest.raises(ServerError) as caught:
        Certificate(str(certificate), str(key))
    return caught.value


# --- files ---


def test_what_cannot_be_read_is_named_with_its_option(tmp_path):
    certificate, key, *_ = write_pair(tmp_path / "good")
    assert "--certificate" in refusal(tmp_path / "nothing.pem", key).message
    assert "--key" in refusal(certificate, tmp_path / "nothing.pem").message
    assert "No such file" in refusal(certificate, tmp_path / "nothing.pem").message
    assert "directory" in refusal(certificate, tmp_path).message
    if os.getuid():
        Path(key).chmod(0)
        assert "Permission denied" in refusal(certificate, key).message


def test_files_that_hold_something_else_are_told(tmp_path):
    certificate, key, *_ = write_pair(tmp_path / "good")
    for content in (b"", b"hello", b"\x00\xff" * 50, b"-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n"):
        wrong = tmp_path / "wrong.pem"
        wrong.write_bytes(content)
        assert "cannot be used" in refusal(wrong, key).message
        assert "holds no key" in refusal(certificate, wrong).message
    assert "holds no certificate" in refusal(key, certificate).message


@pytest.mark.parametrize(("kind", "other"), [("ec", "ec"), ("rsa", "rsa"), ("ec", "rsa"), ("rsa", "ec")])
def test_a_key_of_another_certificate_is_told(tmp_path, kind, other):
    certificate, *_ = write_pair(tmp_path / "a", kind=kind)
    _, key, *_ = write_pair(tmp_path / "b", kind=other)
    assert "does not belong to the certificate" in refusal(certificate, key).message


def test_a_certificate_that_is_not_good_now_is_told(tmp_path):
    assert "has expired" in refusal(*write_pair(tmp_path / "old", begins=-2 * DAY, ends=-DAY)[:2]).message
    assert "is not valid yet" in refusal(*write_pair(tmp_path / "new", begins=DAY, ends=2 * DAY)[:2]).message


def test_a_key_with_a_password_is_told(tmp_path):
    error = refusal(*write_pair(tmp_path, password=b"secret")[:2])
    assert "encrypted with a password" in error.message
    assert "openssl" in error.hint


def test_a_certificate_of_an_authority_with_its_chain_is_good(tmp_path):
    _, _, authority, secret = write_pair(tmp_path / "authority", "An Authority")
    certificate, key, *_ = write_pair(tmp_path / "own", authority=(authority, secret))
    assert Certificate(certificate, key).get_context()
    with Path(certificate).open("ab") as chain:
        chain.write(authority.public_bytes(serialization.Encoding.PEM))
    assert Certificate(certificate, key).get_context()


def test_a_renewed_certificate_is_used_and_a_bad_one_is_not(tmp_path, caplog):
    certificate, key, *_ = write_pair(tmp_path / "used")
    served = Certificate(certificate, key, seconds=0)
    first = served.get_context()
    assert served.get_context() is first
    shutil.copy(write_pair(tmp_path / "other")[0], certificate)  # its key has not come yet
    with caplog.at_level(logging.WARNING):
        assert served.get_context() is first
    assert "does not belong to the certificate" in caplog.text
    shutil.copy(tmp_path / "other" / "key.pem", key)
    second = served.get_context()
    assert second is not first
    Path(key).unlink()
    assert served.get_context() is second


# --- a server ---


@contextmanager
def encrypting(archive, folder, **limits):
    """Serve with a certificate; give the address, what trusts it, a token and the folder."""
    certificate, key, *_ = write_pair(folder / "tls")
    limits = ServerLimits(connections=ConnectionLimits(**limits))
    _, secret = issue_token(archive, "ben", "reader")
    options = {"tokens": True, "certificate": Certificate(certificate, key, seconds=0), "limits": limits}
    with running(archive, **options) as address:
        yield (
            address.replace("127.0.0.1", "localhost"),
            ssl.create_default_context(cafile=certificate),
            secret,
            folder,
        )


@pytest.fixture
def encrypted(archive, tmp_path):
    with encrypting(archive, tmp_path, seconds=LIMIT) as serving:
        yield serving


def test_a_server_with_a_certificate_speaks_https_alone(encrypted):
    address, trusting, secret, _ = encrypted
    assert address.startswith("https://")
    with httpx.Client(verify=trusting, timeout=LIMIT) as client:
        login = client.post(f"{address}login", data={"token": secret})
        assert login.status_code == 303
        assert "Secure" in login.headers["set-cookie"]
        page = client.get(f"{address}catalogs")
        assert page.status_code == 200
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        large = client.get(f"{address}api/catalogs?unnamed=true", headers={"X-Long": "x" * 20_000})
        assert large.status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}catalogs", timeout=LIMIT)  # an authority that nobody knows
    with pytest.raises(httpx.HTTPError):
        httpx.get(address.replace("https", "http"), timeout=LIMIT)


def test_old_versions_of_tls_are_refused(encrypted):
    address, trusting, *_ = encrypted
    port = httpx.URL(address).port
    for version in ("-tls1_2", "-tls1_3", "-tls1_1"):
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", version, "-cipher", "ALL:@SECLEVEL=0"]
        done = subprocess.run(command, input=b"", capture_output=True, check=False)
        assert (b"Cipher is (NONE)" not in done.stdout and done.returncode == 0) == (version != "-tls1_1"), version
    del trusting


def test_a_connection_that_never_shakes_hands_is_closed_and_others_are_answered(archive, tmp_path):
    with encrypting(archive, tmp_path, seconds=2.0) as (address, trusting, secret, _):
        place = ("127.0.0.1", httpx.URL(address).port)
        silent = [socket.create_connection(place, timeout=LIMIT) for _ in range(20)]
        options = {"verify": trusting, "headers": {"Authorization": f"Bearer {secret}"}}
        wait_until(lambda: is_answered(f"{address}api/catalogs", **options), "who shakes hands in time is answered")
        for one in silent:
            with suppress(ConnectionResetError):
                assert one.recv(100) == b""
            one.close()


def test_a_renewed_certificate_is_served_without_a_restart(encrypted):
    address, trusting, secret, folder = encrypted
    given = {"Authorization": f"Bearer {secret}"}
    renewed, key, *_ = write_pair(folder / "renewed")
    shutil.copy(key, folder / "tls" / "key.pem")
    shutil.copy(renewed, folder / "tls" / "cert.pem")
    knowing = ssl.create_default_context(cafile=renewed)

    works = partial(is_answered, f"{address}api/catalogs", verify=knowing, headers=given)
    wait_until(works, "the renewed certificate is served")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}api/catalogs", verify=trusting, headers=given, timeout=LIMIT)
