// SPDX-License-Identifier: Apache-2.0
// validate.js SCHEMA FILE...: prints a line for each YAML file: its name, whether it is valid, and the first reason why
// not, between tabs. By Ajv (6 or 8) and js-yaml, which know nothing of stagesim.
const ajv = require("ajv"), yaml = require("js-yaml"), fs = require("fs");
const [, , schema, ...files] = process.argv;
const Ajv = ajv.default || ajv, options = ajv.default ? { strict: false } : { schemaId: "auto" };
const validate = new Ajv(options).compile(JSON.parse(fs.readFileSync(schema, "utf8")));
for (const file of files) {
  let value, verdict = "unreadable", reason = "";
  try {
    value = yaml.load(fs.readFileSync(file, "utf8"), {schema: yaml.CORE_SCHEMA}) /* dates are texts */;
    verdict = validate(value) ? "valid" : "invalid";
    const first = verdict === "valid" ? null : validate.errors[0];
    reason = first ? `${first.dataPath || first.instancePath} ${first.message} ${JSON.stringify(first.params)}` : "";
  } catch (error) {
    reason = error.message.split("\n")[0];
  }
  console.log([file, verdict, reason].join("\t"));
}
