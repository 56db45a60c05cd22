"""Who may ask, and how: addresses, tokens and the headers of every answer."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "Address", "Guard", "is_loopback", "new_token"]

LONGEST_QUERY = 2_048
LARGEST_BODY = 1_048_576
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_OWN_SITES = ("same-origin", "none")


@dataclass(frozen=True)
class Address:
    """Where the server listens: what a person wrote, and what it was resolved to."""

    host: str
    bound: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.bound)

    @property
    def everywhere(self) -> bool:
        """Whether all addresses of this machine are meant."""
        return ipaddress.ip_address(self.bound).is_unspecified

    def url(self, token: str | None = None) -> str:
        """Give the address to open, with the token where one is needed."""
        name = socket.gethostname() if self.everywhere else self.host
        name = f"[{name}]" if ":" in name else name
        return f"http://{name}:{self.port}/" + (f"?{urlencode({'token': token})}" if token else "")

    def is_named(self, header: str) -> bool:
        """Tell whether a Host header means this server.

        A page from elsewhere whose name was made to lead here, as in DNS rebinding, has another one.
        """
        try:
            parts = urlsplit(f"//{header}")
            name, port = (parts.hostname or "").rstrip("."), parts.port or 80
        except ValueError:
            return False
        if parts.path or parts.query or parts.fragment or "@" in header:
            return False
        if self.everywhere:
            return _is_number(name) or name in {"localhost", *(n.lower() for n in _own_names())}
        names = {self.host.lower(), self.bound}
        names |= {"localhost", "127.0.0.1", "::1"} if self.loopback else set()
        return name in names and port == self.port


def is_loopback(address: str) -> bool:
    """Tell whether an IP address leads to this machine only."""
    return ipaddress.ip_address(address).is_loopback


def new_token() -> str:
    """Draw a token that nobody can guess."""
    return secrets.token_urlsafe(24)


def _own_names() -> tuple[str, str]:
    return socket.gethostname(), socket.getfqdn()


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Stands before the server: refuses who is not meant, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp, address: Address, token: str | None) -> None:
        self.app, self.address, self.token = app, address, token
        self.cookie = f"relscape-{address.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] == "websocket":  # nothing but plain requests is served
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (self.app if refusal is None else refusal)(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        query = scope["query_string"].decode("latin-1")
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.address.is_named(hosts[0]):
            return _refused(421, f"this server is {self.address.url()}; it answers to no other name.")
        if len(query) > LONGEST_QUERY:
            return _refused(414, f"the query is longer than {LONGEST_QUERY} characters.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            return _refused(413, f"a request may carry {LARGEST_BODY} bytes at most.")
        if scope["path"].startswith("/api/") and not self._from_own_page(headers):
            return _refused(403, "this was asked by a page of another site.")
        return self._token_refusal(scope, headers, query)

    def _from_own_page(self, headers: Headers) -> bool:
        """Tell whether a browser says that its own page is asking; other programs say nothing."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in _OWN_SITES:
            return False
        return origin is None or urlsplit(origin).netloc.lower() == headers["host"].lower()

    def _token_refusal(self, scope: Scope, headers: Headers, query: str) -> Response | None:
        """Ask for the token; one in the address becomes a cookie, and leaves the address."""
        if self.token is None:
            return None
        pairs = parse_qsl(query, keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if given and self._is_token(given[0]):
            rest = urlencode([(name, value) for name, value in pairs if name != "token"])
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="lax", path="/")
            return answer
        bearer = headers.get("authorization", "")
        if bearer.startswith("Bearer ") and self._is_token(bearer.removeprefix("Bearer ")):
            return None
        if self._is_token(_cookie(headers, self.cookie)):
            return None
        return _refused(401, "this address needs its token: open the whole address that was printed.")

    def _is_token(self, given: str) -> bool:
        return self.token is not None and secrets.compare_digest(given.encode(), self.token.encode())


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _refused(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status)
