import type { Operation } from '../contract.js';
import { breaks, enter, extendsContract, type Position } from '../findings.js';
import { compareBody, compareParameters } from './requests.js';
import { compareResponses } from './responses.js';
import { compareSecurity } from './security.js';

/** Compares two descriptions of one method and path. */
export function compareOperation(at: Position, before: Operation, after: Operation): void {
  compareNames(at, before, after);
  comparePermission(at, before['x-permission'], after['x-permission']);
  compareScopes(at, before['x-scopes'], after['x-scopes']);
  compareSecurity(enter(at, 'security', at.name), before.security, after.security);
  if (!before.deprecated && after.deprecated) extendsContract(at, 'The operation is deprecated now.');
  const known = at.findings.length;
  compareParameters(at, before.parameters, after.parameters);
  compareBody(at, before.requestBody, after.requestBody);
  const hasNewCalls = at.findings.slice(known).some(({ allowsNewCalls }) => allowsNewCalls);
  const answers: Position = { ...at, direction: 'response', visited: new Map(), hasNewCalls };
  compareResponses(answers, before.responses, after.responses);
}

/** A service token needs one of the scopes. */
function compareScopes(at: Position, before: string[] = [], after: string[] = []): void {
  const here = enter(at, 'scopes', at.name);
  const removed = before.filter((scope) => !after.includes(scope));
  const added = after.filter((scope) => !before.includes(scope));
  if (removed.length > 0)
    breaks(here, `Service tokens that have only ${removed.join(', ')} get 403.`, { names: removed });
  if (added.length > 0)
    extendsContract(here, `Service tokens with ${added.join(' or ')} may call it.`, { names: added });
}

/** The operationId and the tag are names of methods and classes in generated clients. */
export function compareNames(at: Position, before: Operation, after: Operation): void {
  if (before.operationId !== after.operationId)
    breaks(at, `The operationId is ${after.operationId} now. Generated clients lose the method.`, {
      names: [after.operationId],
    });
  const { tags: [tag] = [] } = before;
  const { tags: [tagNow] = [] } = after;
  if (tag !== tagNow)
    breaks(at, `The tag was ${tag ?? 'none'} and is ${tagNow ?? 'none'}. Generated clients move the method.`);
}

function comparePermission(at: Position, before: string | undefined, after: string | undefined): void {
  if (before === after) return;
  const here = enter(at, 'permission', at.name);
  if (after === undefined) extendsContract(here, `${String(before)} is no longer needed.`);
  else
    breaks(here, `It was ${before ?? 'none'} and is ${after}. Users without ${after} get 403.`, {
      names: [after],
    });
}
