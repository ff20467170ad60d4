// Holds requests against Linear's schema, and has a mock of it answer them. Prints what is wrong.
const fs = require("node:fs");
const { buildSchema, graphql, parse, validate } = require("graphql");
const { addMocksToSchema } = require("@graphql-tools/mock");

const [, , schemaFile, requestsFile] = process.argv;
const schema = buildSchema(fs.readFileSync(schemaFile, "utf8"), { assumeValidSDL: true });
const scalar = () => "2026-01-01T00:00:00.000Z";
const kinds = Object.values(schema.getTypeMap()).filter(
  (type) => type.constructor.name === "GraphQLScalarType",
);
const builtIn = ["String", "ID", "Int", "Float", "Boolean"];
const mocks = Object.fromEntries(
  kinds.filter((type) => !builtIn.includes(type.name)).map((type) => [type.name, scalar]),
);
const mocked = addMocksToSchema({ schema, mocks });

const ask = (request, variables) =>
  graphql({
    schema: mocked,
    source: request.query,
    operationName: request.operationName,
    variableValues: variables,
  });

(async () => {
  for (const request of JSON.parse(fs.readFileSync(requestsFile, "utf8"))) {
    const name = request.operationName;
    for (const error of validate(schema, parse(request.query))) {
      console.log(`${name}: ${error.message}`);
    }
    const answer = await ask(request, request.variables);
    for (const error of answer.errors ?? []) console.log(`${name}: ${error.message}`);
    for (const variable of Object.keys(request.variables)) {
      const wrong = await ask(request, { ...request.variables, [variable]: ["wrong"] });
      if (!wrong.errors) console.log(`${name}: a wrong \`${variable}\` was taken`);
    }
    const { input } = request.variables;
    if (input) {
      const unknown = { ...request.variables, input: { ...input, nobodyKnowsThis: 1 } };
      if (!(await ask(request, unknown)).errors) console.log(`${name}: an unknown key was taken`);
    }
  }
})();
