// The same objects by cdk8s without a bridge. Usage: node cdk8s.js OBJECTS, with NODE_PATH set.
const fs = require("fs");
const { App, ApiObject, Chart } = require("cdk8s");

const app = new App();
const chart = new Chart(app, "all");
const objects = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
objects.forEach((object, i) => new ApiObject(chart, String(i), object));
process.stdout.write(app.synthYaml());
