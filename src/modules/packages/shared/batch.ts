import { fieldError, type FieldError, type FieldProblem } from '../../../platform/errors/errors.js';

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
  check: (id: string) => FieldProblem | undefined,
): FieldError[] {
  return [...fields].flatMap(([id, field]) => {
    const problem = check(id);
    return problem ? fieldError(field, ...problem) : [];
  });
}

export const packageNotFound = (id: string): FieldProblem => ['package_missing', { id }];
