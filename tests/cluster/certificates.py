"""Keys and certificates of one control plane, made by the openssl program.

A client certificate names its user by CN and its groups by O, as kube-apiserver reads them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Pair:
    """PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates into its folder."""

    folder: Path
    pair: Pair

    def serving(self, name: str, days: int = 2) -> Pair:
        """For a server on 127.0.0.1."""
        extension = "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth\n"
        return self._issue(name, f"/CN={name}", extension, days)

    def client(self, user: str, groups: Iterable[str] = (), days: int = 2) -> Pair:
        """For a user; with 0 days it has expired a second later."""
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={user}"
        return self._issue(user.replace(":", "-"), subject, "extendedKeyUsage=clientAuth\n", days)

    def _issue(self, name: str, subject: str, extension: str, days: int) -> Pair:
        pair = _pair(self.folder, name)
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(extension, encoding="utf-8")
        _openssl("req", *_CURVE, "-subj", subject, "-keyout", pair.key, "-out", request)
        signer = ("-CA", self.pair.certificate, "-CAkey", self.pair.key, "-CAcreateserial")
        options = ("-days", str(days), "-extfile", extensions)
        _openssl("x509", "-req", "-in", request, *signer, *options, "-out", pair.certificate)
        return pair


def new_authority(folder: Path) -> Authority:
    """An authority of its own, which nothing but this control plane trusts."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = _pair(folder, "ca")
    files = ("-keyout", pair.key, "-out", pair.certificate)
    _openssl("req", "-x509", *_CURVE, "-subj", "/CN=contract-ca", "-days", "2", *files)
    return Authority(folder, pair)


def signing_key(file: Path) -> Path:
    """A private key for the tokens of service accounts."""
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", file)
    return file


def _pair(folder: Path, name: str) -> Pair:
    return Pair(folder / f"{name}.crt", folder / f"{name}.key")


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")
