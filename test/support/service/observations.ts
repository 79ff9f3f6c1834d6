import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservedResponse } from '../contract/response-validator.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { readFailure } from '../failures/failure-check.js';

type Observation = Omit<ObservedResponse, 'problems'>;

const noted = new Set<string>();

/** Records which facts of the contract a response shows. coverage-reporter.mjs compares them with the declared ones. */
export function observe(reply: Observation): void {
  if (!reply.operationId) return;
  const file = join(projectRoot, 'coverage', 'contract', `${process.pid}.txt`);
  for (const fact of factsOf(reply).map((each) => `${reply.operationId} ${each}`)) {
    if (noted.has(fact)) continue;
    noted.add(fact);
    appendFileSync(file, `${fact}\n`);
  }
}

/** Returns the facts in the same format as coverage-reporter.mjs. */
function factsOf({ status, mediaType, requestMediaType, action, text }: Observation): string[] {
  const facts = [`${status}`, `${status} ${mediaType || 'no body'}`];
  if (status >= 400) {
    const { body, texts } = readFailure(status, text);
    return [
      ...facts,
      `${status} ${body.code}`,
      ...texts.filter(isOfContract).map((each) => `says ${status} ${each}`),
    ];
  }
  if (requestMediaType) facts.push(`takes ${requestMediaType}`);
  if (action) facts.push(`does ${action}`);
  return facts;
}

/** Excludes field names that a caller invented. Those of the contract have only these characters. */
const isOfContract = (text: string) => /^[\w .[\]]{1,200}$/.test(text);
