import type { FieldError } from '../../../platform/errors/errors.js';

export type Refusal = { code: string; reason: string };

/**
 * Returns the package ids of a body, each with the field that contains it first. A repeated id counts once.
 */
export function fieldsByPackageId(packageIds: string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [index, id] of packageIds.entries()) {
    if (!fields.has(id)) fields.set(id, `package_ids[${index}]`);
  }
  return fields;
}

/** Returns one error for each package that `check` rejects. */
export function listErrors(
  fields: Map<string, string>,
  check: (id: string) => Refusal | undefined,
): FieldError[] {
  return [...fields].flatMap(([id, field]) => {
    const refusal = check(id);
    return refusal ? { field, code: refusal.code, message: refusal.reason } : [];
  });
}

export const packageNotFound = (id: string): Refusal => ({
  code: 'not_found',
  reason: `There is no package ${id}.`,
});
