import { ApiError, fieldError, type FieldError, type FieldProblem } from '../../../platform/errors/errors.js';

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

/** @throws ApiError package_not_found with the field of each package that does not exist */
export function assertAllExist(fields: Map<string, string>, found: { has(id: string): boolean }): void {
  const errors = listErrors(fields, (id) => (found.has(id) ? undefined : ['package_missing', { id }]));
  if (errors.length > 0) throw new ApiError('package_not_found', { variant: 'several', errors });
}
