"""Signatures: a DSSE envelope around the bytes of a document, Ed25519, keys as PEM."""

# DSSE, the Dead Simple Signing Envelope (secure-systems-lab/dsse, version 1), signs the type of the payload with the
# payload. An envelope is written in one way, and read in no other, so that whatever is changed in a file is found.

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from guardgraph.evidence.chain import HASH
from guardgraph.evidence.document import RunDocument, validate_run_document
from guardgraph.evidence.strict_json import MOST_BYTES, format_document_text
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.extras import explain_extra
from guardgraph.plain.json import JsonObject
from guardgraph.state.run import CLOSED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

SIGNATURE_BYTES = 64  # of Ed25519 (RFC 8032)
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
"""Of Ed25519 (RFC 8032): no key verifies a signature whose second half is larger."""

PAYLOAD_TYPE = "application/vnd.guardgraph.run+json"  # what the payload of an envelope is


@with_config(CLOSED)
class Signature(TypedDict):
    """A signature of an envelope."""

    keyid: str  #: SHA-256 of the public key as DER, 64 hex digits: which key it was, not that it was this one
    sig: str  #: base64


@with_config(CLOSED)
class Envelope(TypedDict):
    """A DSSE envelope."""

    payload: str  #: base64 of the document's bytes
    payloadType: str  #: what the payload is
    signatures: list[Signature]  #: one


class Sealed:
    """What an envelope holds, as bytes; nobody has looked at the payload yet."""

    def __init__(self, envelope: Envelope) -> None:
        kind, count = envelope["payloadType"], len(envelope["signatures"])
        if kind != PAYLOAD_TYPE:
            raise InputError(f"envelope.payloadType: {PAYLOAD_TYPE} is required; given: {kind!r:.80}")
        if count != 1:
            raise InputError(f"envelope.signatures: one is required; given: {count}")
        [signature] = envelope["signatures"]
        self.payload = _decode_envelope_base64(envelope["payload"], "payload")  # the bytes that were signed
        self._keyid, self._signature = signature["keyid"], _decode_envelope_base64(signature["sig"], "signatures.0.sig")

    @property
    def is_signature_possible(self) -> bool:
        """Whether the holder of some key may have made it: 64 bytes, the last 32 a number below the group's order."""
        number = int.from_bytes(self._signature[32:], "little")
        is_one = len(self._signature) == SIGNATURE_BYTES and number < GROUP_ORDER
        return is_one and HASH.fullmatch(self._keyid) is not None

    def is_signed_by(self, public_key: bytes) -> bool:
        """Say whether this very payload was signed by the holder of a key."""
        key = load_public_key(public_key)
        from cryptography.exceptions import InvalidSignature

        try:
            key.verify(self._signature, encode_signed_payload(PAYLOAD_TYPE, self.payload))
        except InvalidSignature:
            return False
        return self._keyid == _hash_public_key(key)


def encode_signed_payload(kind: str, body: bytes) -> bytes:
    """Return what is signed: the pre-authentication encoding of a payload and its type, as DSSE version 1 has it."""
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(body), body)


def sign_document(document: RunDocument, private_key: bytes) -> str:
    """Return a DSSE envelope with a document and a signature, as JSON, which `check_document` takes.

    Args:
        document: of `export_run`.
        private_key: Ed25519, PEM (PKCS #8), not encrypted.

    Raises:
        ConfigurationError: it is no such key, or the extra ``sign`` is not installed.
        InputError: it is no document, or one that is too large to be read again in its envelope.
    """
    payload = format_document_text(dict(validate_run_document(document))).encode()
    private = _load_key(private_key, "private")
    signature = {
        "keyid": _hash_public_key(private.public_key()),
        "sig": _encode_base64(private.sign(encode_signed_payload(PAYLOAD_TYPE, payload))),
    }
    sealed = {"payload": _encode_base64(payload), "payloadType": PAYLOAD_TYPE, "signatures": [signature]}
    text = format_document_text(sealed)
    if len(text) > MOST_BYTES:
        raise InputError(f"document: one whose envelope has at most {MOST_BYTES} bytes is required; given: more")
    return text


def is_signed_envelope(value: JsonObject) -> bool:
    """Say whether a JSON object is an envelope rather than a document."""
    return "payload" in value


def open_signed_envelope(value: JsonObject) -> Sealed:
    """Return what an envelope holds."""
    try:
        return Sealed(TypeAdapter(Envelope).validate_python(value))
    except ValidationError as error:
        item = error.errors(include_url=False)[0]
        raise InputError(f"envelope.{'.'.join(map(str, item['loc']))}: {item['msg']}") from None


def load_public_key(pem: bytes) -> Ed25519PublicKey:
    """Return a public key, and refuse one that is none."""
    key: Ed25519PublicKey = _load_key(pem, "public")
    return key


def _load_key(pem: bytes, kind: Literal["private", "public"]) -> Any:
    """Return a key of the one kind that is used; what is wrong with another one is said without a word of it."""
    crypto, is_private = _import_cryptography(), kind == "private"
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ed25519

    wanted = ed25519.Ed25519PrivateKey if is_private else ed25519.Ed25519PublicKey
    form = "PKCS #8, not encrypted" if is_private else "SubjectPublicKeyInfo"
    required = f"{kind}_key: an Ed25519 {kind} key as PEM ({form}) is required"
    try:
        key = crypto.load_pem_private_key(pem, password=None) if is_private else crypto.load_pem_public_key(pem)
    except TypeError:
        raise ConfigurationError(f"{required}; given: an encrypted one, or no bytes") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigurationError(f"{required}; what was given cannot be read as one") from None
    if not isinstance(key, wanted):
        raise ConfigurationError(f"{required}; given: a key of another kind, {type(key).__name__}")
    return key


def _import_cryptography() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError as error:
        raise ConfigurationError(f"signing: {explain_extra('sign')} ({error})") from error
    return serialization


def _hash_public_key(key: Ed25519PublicKey) -> str:
    crypto = _import_cryptography()
    der: bytes = key.public_bytes(crypto.Encoding.DER, crypto.PublicFormat.SubjectPublicKeyInfo)
    return sha256(der).hexdigest()


def _encode_base64(data: bytes) -> str:
    return b64encode(data).decode()


def _decode_envelope_base64(text: str, where: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = None
    if data is None or _encode_base64(data) != text:  # one text for the same bytes: trailing bits may hold nothing
        raise InputError(f"envelope.{where}: base64 is required")
    return data
