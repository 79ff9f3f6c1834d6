import { isEqual, type Requirement } from '../contract.js';
import { breaks, enter, extendsContract, type Position } from '../findings.js';

/** Compares the credentials that an operation accepts. Each requirement is one alternative. */
export function compareSecurity(
  at: Position,
  before: Requirement[] | undefined,
  after: Requirement[] | undefined,
): void {
  const old = alternatives(before ?? at.before.security);
  const current = alternatives(after ?? at.after.security);
  for (const requirement of old)
    if (!current.some((other) => isMet(other, requirement)))
      breaks(at, `${shown(requirement)} is no longer sufficient. Callers get 401 or 403.`);
  for (const requirement of current)
    if (!old.some((other) => isMet(requirement, other)))
      extendsContract(at, `${shown(requirement)} is accepted now.`);
}

// No alternative means that no credential is needed.
const alternatives = (list: Requirement[] = []): Requirement[] => (list.length > 0 ? list : [{}]);

/** Returns whether the credentials of `given` satisfy `wanted`. */
const isMet = (wanted: Requirement, given: Requirement): boolean =>
  Object.entries(wanted).every(([scheme, scopes]) => {
    const own = given[scheme];
    return own !== undefined && scopes.every((scope) => own.includes(scope));
  });

const shown = (requirement: Requirement): string =>
  Object.keys(requirement).join(' with ') || 'A request without a credential';

export function compareSchemes(at: Position): void {
  const [old, current] = [at.before, at.after].map(({ components }) => components.securitySchemes ?? {});
  for (const [name, scheme] of Object.entries(old ?? {})) {
    const here = enter(at, name, name);
    const now = current?.[name];
    if (!now) breaks(here, 'The scheme was removed. Clients that use it are rejected.');
    else if (!isEqual({ ...now, description: undefined }, { ...scheme, description: undefined }))
      breaks(here, 'The scheme changed. Clients send the credential in another way than before.');
  }
  for (const name of Object.keys(current ?? {}))
    if (!(name in (old ?? {}))) extendsContract(enter(at, name, name), 'The scheme is new.');
}
