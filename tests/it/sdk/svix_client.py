"""Does with the official Python SDK `svix` what a producer does first, against a given server.

    python svix_client.py SERVER_URL TOKEN RECEIVER_URL

Creates an application and an endpoint with RECEIVER_URL, asks for the endpoint's secret, posts a
message, reads it back, and prints one JSON line:

    {"app_id", "endpoint_id", "secret", "message_id", "event_type", "payload"}

so that the test can check what RECEIVER_URL gets. Exit status: 0; 1 when the server's answers
were not what the SDK or this program expects (the reason is on standard error); 2 for wrong
arguments.

The SDK retries failed requests three times within half a second and takes at most 15 seconds for
one. It parses answers into its models: a missing field fails here, which is the point.
"""

import json
import sys
import uuid

import httpx
import pydantic
from svix.api import ApplicationIn, EndpointIn, MessageGetOptions, MessageIn, Svix, SvixOptions
from svix.exceptions import HttpError, HTTPValidationError

EVENT_TYPE = "order.paid"
# Text outside ASCII, a nested object and an integer: what a careless JSON library changes first.
PAYLOAD = {"order": {"no": 9007199254740991, "buyer": "Ёж"}, "paid": True}


def walk(client, receiver_url):
    # A uid of its own for each run, so that the program can be run again on the same server.
    uid = f"sdk-check-{uuid.uuid4()}"
    application = client.application.create(ApplicationIn(name="SDK check", uid=uid))
    endpoint = client.endpoint.create(application.id, EndpointIn(url=receiver_url, description="SDK check"))
    secret = client.endpoint.get_secret(application.id, endpoint.id).key
    posted = client.message.create(application.id, MessageIn(event_type=EVENT_TYPE, payload=PAYLOAD))
    # By uid, for the SDK's callers may use either. Without the option the SDK asks for no content.
    read = client.message.get(uid, posted.id, MessageGetOptions(with_content=True))
    if (read.event_type, read.payload) != (EVENT_TYPE, PAYLOAD):
        raise ValueError(f"message {posted.id} reads back as {read!r}")
    return {
        "app_id": application.id,
        "endpoint_id": endpoint.id,
        "secret": secret,
        "message_id": posted.id,
        "event_type": read.event_type,
        "payload": read.payload,
    }


def main():
    if len(sys.argv) != 4:
        print("usage: svix_client.py SERVER_URL TOKEN RECEIVER_URL", file=sys.stderr)
        return 2
    server_url, token, receiver_url = sys.argv[1:]
    client = Svix(token, SvixOptions(server_url=server_url))
    try:
        print(json.dumps(walk(client, receiver_url), ensure_ascii=False))
    except (HttpError, HTTPValidationError) as error:
        print(f"the server answered {error.status_code}: {error.to_dict()}", file=sys.stderr)
        return 1
    except (ValueError, pydantic.ValidationError, httpx.HTTPError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
