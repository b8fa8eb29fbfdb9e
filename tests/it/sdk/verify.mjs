// Verifies deliveries with the libraries that JavaScript receivers use: `standardwebhooks` and `svix`.
//
//     node verify.mjs FOLDER      # FOLDER holds the node_modules with both, as .tools/node does
//
// Reads one JSON line per delivery on standard input:
//
//     {"secret": "whsec_…", "headers": {"webhook-id": "…", …}, "body_b64": "…"}
//
// and prints one JSON line for each, in order, with "ok" or the library's error:
//
//     {"standardwebhooks": "ok", "svix": "No matching signature found"}
//
// Exit status: 0 when both libraries took every delivery, 1 when any refused one, 2 when the
// folder or a line of the input is not as above, or there is no line, which proves nothing (the
// reason is on standard error).
//
// What the libraries do that a test must know:
// - The clock is theirs. A `webhook-timestamp` more than five minutes from now is refused, so
//   published vectors with old timestamps cannot pass; verify what was sent just now.
// - `standardwebhooks` reads the `webhook-*` headers only; `svix` takes `svix-*` or `webhook-*`.
// - Both skip signatures that are not `v1`, so an Ed25519 `v1a` beside it neither helps nor harms.
// - Bodies go in as text: JavaScript receivers decode UTF-8 before they verify. A body with bytes
//   that are not UTF-8 would be changed by that, and is refused here as input.
//
// The folder is an argument because modules are looked up from where the file is, and the
// packages are not installed beside the tests' sources.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

function stop(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(2);
}

// The file that a package names as its main module, from its package.json.
async function load(folder, name) {
  const root = resolve(folder, "node_modules", name);
  try {
    const about = JSON.parse(readFileSync(resolve(root, "package.json"), "utf8"));
    const entry = about.exports?.["."];
    const file = typeof entry === "string" ? entry : (entry?.import ?? about.main);
    return await import(pathToFileURL(resolve(root, file.default ?? file)));
  } catch (error) {
    stop(`cannot load ${name} from ${root}: ${error.message}. Run scripts/test-tools.sh first.`);
  }
}

function parse(line, number) {
  try {
    const { secret, headers, body_b64 } = JSON.parse(line);
    const bytes = Buffer.from(body_b64, "base64");
    const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (typeof secret !== "string" || typeof headers !== "object" || headers === null) {
      throw new Error("secret must be a string and headers an object");
    }
    return { secret, headers, body };
  } catch (error) {
    return stop(`line ${number} is not a delivery: ${error.message}`);
  }
}

// "ok", or why the library refused; whatever it throws is a refusal for its users too.
async function verdict(Webhook, { secret, headers, body }) {
  try {
    await new Webhook(secret).verify(body, headers);
    return "ok";
  } catch (error) {
    return error.message || error.name;
  }
}

const folder = process.argv[2] ?? stop("usage: node verify.mjs FOLDER (which holds node_modules)");
const libraries = {};
for (const name of ["standardwebhooks", "svix"]) {
  libraries[name] = (await load(folder, name)).Webhook;
}

let allOk = true;
const lines = readFileSync(0, "utf8").split("\n").filter((line) => line.trim() !== "");
if (lines.length === 0) {
  stop("no delivery on standard input");
}
for (const [index, line] of lines.entries()) {
  const delivery = parse(line, index + 1);
  const verdicts = {};
  for (const [name, Webhook] of Object.entries(libraries)) {
    verdicts[name] = await verdict(Webhook, delivery);
    allOk &&= verdicts[name] === "ok";
  }
  process.stdout.write(`${JSON.stringify(verdicts)}\n`);
}
process.exitCode = allOk ? 0 : 1;
