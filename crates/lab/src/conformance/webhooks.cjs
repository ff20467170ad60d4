// Sends every example of GitHub's own webhooks to a server, signed by GitHub's own library. Prints
// what is wrong.
const { randomUUID } = require("node:crypto");

const [, , address, secret] = process.argv;
const sources = ["api.github.com", "ghes-35"];
const reviewed = ["opened", "reopened", "synchronize", "ready_for_review"];

const deliver = async (event, body, signature) => {
  const response = await fetch(`http://${address}/webhooks/github`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": randomUUID(),
      "x-hub-signature-256": signature,
    },
    body,
  });
  return { status: response.status, answer: await response.json() };
};

const expected = (event, payload) => {
  const isOpen = payload.pull_request?.state === "open" && !payload.pull_request.draft;
  const isReviewed = event === "pull_request" && reviewed.includes(payload.action) && isOpen;
  return isReviewed ? ["queued", "already_there"] : ["ignored"];
};

(async () => {
  const { sign } = await import("@octokit/webhooks-methods");
  let sent = 0;
  let queued = 0;
  for (const source of sources) {
    for (const { name, examples } of require(`@octokit/webhooks-examples/${source}/index.json`)) {
      for (const payload of examples) {
        const body = JSON.stringify(payload);
        const what = `${source}: ${name} ${payload.action ?? ""}`;
        const { status, answer } = await deliver(name, body, await sign(secret, body));
        sent += 1;
        queued += answer.state === "queued";
        if (status >= 300 || !expected(name, payload).includes(answer.state)) {
          console.log(`${what}: ${status} ${JSON.stringify(answer)}`);
        }
        const wrong = await deliver(name, body, await sign("another secret", body));
        if (wrong.status !== 401) console.log(`${what}: a wrong signature got ${wrong.status}`);
      }
    }
  }
  if (sent < 300 || queued < 1) console.log(`only ${sent} were sent, and ${queued} queued`);
  console.error(`${sent} deliveries, ${queued} tasks`);
})();
