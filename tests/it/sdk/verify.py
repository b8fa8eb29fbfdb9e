"""Verifies deliveries with the libraries that Python receivers use: `standardwebhooks` and `svix`.

Reads one JSON line per delivery on standard input:

    {"secret": "whsec_…", "headers": {"webhook-id": "…", …}, "body_b64": "…"}

and prints one JSON line for each, in order, with "ok" or the library's error:

    {"standardwebhooks": "ok", "svix": "No matching signature found"}

Exit status: 0 when both libraries took every delivery, 1 when any refused one, 2 when a line of
the input is not as above or there is none, which proves nothing (the reason is on standard error).

What the libraries do that a test must know:
- The clock is theirs. A `webhook-timestamp` more than five minutes from now is refused, so
  published vectors with old timestamps cannot pass; verify what was sent just now.
- `standardwebhooks` reads the `webhook-*` headers only. `svix` prefers `svix-*` and falls back to
  `webhook-*`, header by header.
- Both skip signatures that are not `v1`, so an Ed25519 `v1a` beside it neither helps nor harms.
- `standardwebhooks` parses the body as JSON after a good signature, and fails if it is none.
"""

import base64
import binascii
import json
import sys

import standardwebhooks
import svix.webhooks

LIBRARIES = {
    "standardwebhooks": standardwebhooks.Webhook,
    "svix": svix.webhooks.Webhook,
}


def verdict(webhook, secret, headers, body):
    """ "ok", or why the library refused; whatever it raises is a refusal for its users too."""
    try:
        webhook(secret).verify(body, headers)
    except Exception as error:
        return str(error) or type(error).__name__
    return "ok"


def main():
    all_ok = True
    number = 0
    for number, line in enumerate(sys.stdin, start=1):
        try:
            delivery = json.loads(line)
            secret, headers = delivery["secret"], delivery["headers"]
            body = base64.b64decode(delivery["body_b64"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            print(f"line {number} is not a delivery: {error!r}", file=sys.stderr)
            return 2
        verdicts = {name: verdict(webhook, secret, headers, body) for name, webhook in LIBRARIES.items()}
        all_ok &= all(said == "ok" for said in verdicts.values())
        print(json.dumps(verdicts), flush=True)
    if number == 0:
        print("no delivery on standard input", file=sys.stderr)
        return 2
    return 0 if all_ok else 1


if __name__ == "__main__":
    sys.exit(main())
