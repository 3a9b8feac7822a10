"""The environment variables of processes that run calculators: variables on a list, and variables that users name.

Spark's worker daemon imports this module first, so the module imports only the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

__all__ = ["FOLDER", "NAMES", "USER", "build_worker_environment"]

NAMES = "PROVENN_WORKER_VARIABLES"
"""The variable that tells the daemon which other variables to hand on: names, or patterns such as ``SWIRE_*``."""

USER = "PROVENN_WORKER_USER"
"""The variable that tells the daemon its system user."""

FOLDER = "PROVENN_WORKER_FOLDER"
"""The variable that tells the daemon a folder of that user."""

_HANDED_ON = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TZ", "TMPDIR", "TEMP", "TMP", "HOSTNAME"),
    *("LANG", "LANGUAGE", "LC_*"),
    *("PYTHON*", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
    *("SPARK_*", "PYSPARK_*", "JAVA_HOME"),
    *("*_NUM_THREADS", "OMP_*", "MKL_*", "OPENBLAS_*", "BLIS_*", "NUMBA_*", "NVPL_*", "KMP_*", "ARROW_*"),
    *("CUDA_*", "NVIDIA_*", "XLA_FLAGS"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLBACKEND", "MPLCONFIGDIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
_NEVER = (
    "PYSPARK_GATEWAY_*",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_AUTH_SECRET",
    "SPARK_*PASSWORD*",
    "SPARK_*KEY*",
    "SPARK_*TOKEN*",
)
_OF_ROOT = ("PYTHON_FAULTHANDLER_DIR", "PYTHONSAFEPATH")  # for crash reports to Java; for the start of the daemon
_OF_OWNER = ("HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TEMP", "TMP", "XDG_*", "MPLCONFIGDIR", *_OF_ROOT)


def build_worker_environment(
    variables: Mapping[str, str], *, named: Iterable[str] = (), user: str = "", folder: str = ""
) -> dict[str, str]:
    """Return the environment of a process that runs calculators.

    Parameters
    ----------
    variables
        The environment of the parent process.
    named
        Names, or patterns, of additional variables to hand on.
    user, folder
        The system user of the process, if it is not the present user, and a folder of that user, which serves as home
        and for temporary files.

    >>> build_worker_environment({"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "x", "SWIRE": "/data"}, named=["SWIRE"])
    {'PATH': '/bin', 'SWIRE': '/data'}
    """
    named = tuple(named)
    kept = {
        name: value
        for name, value in variables.items()
        if _matches(name, named) or (_matches(name, _HANDED_ON) and not _matches(name, _NEVER))
    }
    if not user:
        return kept
    own = {"HOME": folder, "TMPDIR": folder, "USER": user, "LOGNAME": user}
    others = {name for name in kept if _matches(name, _OF_OWNER) and not _matches(name, named)}
    return {name: value for name, value in kept.items() if name not in others} | own


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
