"""Checks a log for code scanners against the schema of SARIF 2.1.0, and what the schema cannot say.

    python sarif.py sarif-schema-2.1.0.json report.sarif
"""

import json
import re
import sys
from urllib.parse import unquote

import jsonschema


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        log = json.load(file)
    validator = jsonschema.validators.validator_for(schema)(schema)
    wrong = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(log)]
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for at, result in enumerate(run["results"]):
        if rules[result["ruleIndex"]] != result["ruleId"]:
            wrong.append(f"result {at}: its rule's position and id differ")
        ids = {str(location["id"]) for location in result["relatedLocations"]}
        # A link of a message is `[text](id)`, unless a bracket is escaped.
        text = re.sub(r"\\[\\\[\]]", "", result["message"]["text"])
        for link in re.findall(r"\]\((\d+)\)", text):
            if link not in ids:
                wrong.append(f"result {at}: a link to {link}, which is nowhere")
        for location in result["locations"] + result["relatedLocations"]:
            place = location["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            if not re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri) or uri.startswith("/"):
                wrong.append(f"result {at}: `{uri}` is no relative URI")
            unquote(uri, errors="strict")
            if place["region"]["startLine"] > place["region"]["endLine"]:
                wrong.append(f"result {at}: lines run backwards")
    for line in wrong[:20]:
        print(line, file=sys.stderr)
    if wrong:
        return 1
    print(f"sarif: {len(run['results'])} results are valid")
    return 0


if __name__ == "__main__":
    sys.exit(main())
