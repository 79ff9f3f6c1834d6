import { resolve, type Operation } from '../contract.js';
import { breaks, enter, extendsContract, type Position } from '../findings.js';
import { compareNames } from './compare-operation.js';
import { compareMediaTypes, compareParameters } from './requests.js';

/** Compares two descriptions of one webhook: the service sends the request, and integrators answer it. */
export function compareWebhook(at: Position, before: Operation, after: Operation): void {
  compareNames(at, before, after);
  const sent: Position = { ...at, direction: 'response' };
  compareParameters(sent, before.parameters, after.parameters);
  const [old, current] = [before.requestBody, after.requestBody];
  const here = enter(sent, 'body', at.name);
  if (old && current)
    compareMediaTypes(here, resolve(at.before, old).content, resolve(at.after, current).content);
  else if (old) breaks(here, 'The body was removed. Receivers that read it fail.');
  compareAnswers(enter(at, 'answers', at.name), before, after);
}

function compareAnswers(
  at: Position,
  { responses: before }: Operation,
  { responses: after }: Operation,
): void {
  for (const status of Object.keys(before))
    if (!(status in after))
      breaks(at, `The status ${status} was removed. Receivers that answer it are not understood.`);
  for (const status of Object.keys(after))
    if (!(status in before)) extendsContract(at, `The status ${status} is new.`, { names: [status] });
}
