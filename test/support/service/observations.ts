import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ObservedResponse } from '../../../src/platform/contract/response-validator.js';
import { projectRoot } from '../../../src/config/project-root.js';
import { matchFailure, type FailureBody } from '../failures/failure-templates.mjs';

type Observation = Omit<ObservedResponse, 'problems'>;

const noted = new Set<string>();

/**
 * Notes what a reply showed of the contract; the reporter asks at the end what is declared and was never seen, and
 * what was seen and is not declared.
 */
export function observe(reply: Observation): void {
  if (!reply.operationId) return;
  const file = join(projectRoot, 'coverage', 'contract', `${process.pid}.txt`);
  for (const fact of factsOf(reply).map((each) => `${reply.operationId} ${each}`)) {
    if (noted.has(fact)) continue;
    noted.add(fact);
    appendFileSync(file, `${fact}\n`);
  }
}

/** In the words that the reporter has for what is declared. */
function factsOf({ status, mediaType, requestMediaType, action, text }: Observation): string[] {
  const facts = [`${status}`, `${status} ${mediaType || 'no body'}`];
  if (status >= 400) {
    // The response validator has found the failure envelope to be one.
    const failure = JSON.parse(text) as FailureBody;
    const { texts } = matchFailure(status, failure);
    return [
      ...facts,
      `${status} ${failure.code}`,
      ...texts.filter(isOfContract).map((each) => `says ${status} ${each}`),
    ];
  }
  if (requestMediaType) facts.push(`takes ${requestMediaType}`);
  if (action) facts.push(`does ${action}`);
  return facts;
}

/** A caller can invent field names; those of the contract are plain. */
const isOfContract = (text: string) => /^[\w .[\]]{1,200}$/.test(text);
