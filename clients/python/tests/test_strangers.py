"""What comes of commands if something else than the server answers, as a proxy or a login page on the way does."""

import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from scarce_client import AccountDebitArguments, Failed, Scarce, ScarceError, Undecided

REFUSAL = {"code": "ACCOUNT_NOT_FOUND", "status": 404, "title": "t", "advice": "a", "retryable": False}

# Each with its status, its headers and its body. Nothing says whether the change was applied.
SAYS_NOTHING = {
    "a page": (200, {}, b"<html>"),
    "another object": (200, {}, b'{"ok":true,"available":5,"balance":5}'),
    "the receipt of another operation": (200, {}, b'{"available":5,"balance":5,"receipt":{"operation":"x"}}'),
    "a list": (200, {}, b"[]"),
    "null": (200, {}, b"null"),
    "no length": (200, {"content-length": "abc"}, b'{"ok":true}'),
    "half of it": (200, {"content-length": "100"}, b'{"receipt":{"operation":"'),
    "another service": (502, {}, b'{"code":500,"status":"error"}'),
    "a refusal of another status": (502, {}, json.dumps(REFUSAL).encode()),
    "a date in the future": (502, {"date": "Fri, 31 Dec 9999 23:59:59 GMT"}, b"{}"),
    "a date before all others": (502, {"date": "Mon, 01 Jan 0001 00:00:00 GMT"}, b"{}"),
}

# Here the change was certainly not taken.
NOT_TAKEN = {
    "elsewhere": (302, {"location": "/"}, b""),
    "elsewhere, with the body": (307, {"location": "/"}, b""),
    "in a year": (429, {"retry-after": "31536000"}, b""),
    "never": (429, {"retry-after": "9" * 400}, b""),
    "a refusal that lacks its words": (404, {}, b'{"code":"ACCOUNT_NOT_FOUND","status":404}'),
}


class Stranger(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        status, headers, body = self.server.says
        self.send_response_only(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_GET = do_POST

    def log_message(self, *_):
        pass


class Listener(ThreadingHTTPServer):
    def handle_error(self, *_):
        """The client need not read all of it."""


class Strangers(unittest.TestCase):
    def setUp(self):
        self.server = Listener(("127.0.0.1", 0), Stranger)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.scarce = Scarce(f"http://127.0.0.1:{self.server.server_port}", timeout=0.5)
        self.addCleanup(self.scarce.close)

    def test_what_is_not_the_servers_answer_leaves_a_change_undecided(self):
        for what, self.server.says in SAYS_NOTHING.items():
            with self.subTest(what):
                outcome = self.scarce.account.debit(account="a", amount=5, id="mine")
                self.assertIsInstance(outcome, Undecided)
                self.assertEqual(outcome.operation, "mine")
                lines = [AccountDebitArguments(account="a", amount=5)] * 2
                self.assertEqual([type(its) for its in self.scarce.batch(lines)], [Undecided] * 2)
                self.assertIsInstance(self.scarce.atomic(lines), Undecided)
                self.assertIsInstance(outcome.resolve(0.2), Undecided)

    def test_what_was_not_taken_is_an_error_and_nobody_waits_for_a_year(self):
        for what, self.server.says in NOT_TAKEN.items():
            with self.subTest(what):
                with self.assertRaises(ScarceError):
                    self.scarce.account.debit(account="a", amount=5)
                self.assertIsInstance(self.scarce.batch([AccountDebitArguments(account="a", amount=5)])[0], Failed)


if __name__ == "__main__":
    unittest.main()
