import { fieldError, type FieldError, type FieldProblem } from '../../../platform/errors/errors.js';

/** The packages that a body names, each under the field that names it first: an id named twice counts once. */
export function fieldsOf(packageIds: string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [index, id] of packageIds.entries()) {
    if (!fields.has(id)) fields.set(id, `package_ids[${index}]`);
  }
  return fields;
}

/** One entry for each package that `judge` refuses. */
export function listErrors(
  fields: Map<string, string>,
  judge: (id: string) => FieldProblem | undefined,
): FieldError[] {
  return [...fields].flatMap(([id, field]) => {
    const refusal = judge(id);
    return refusal ? fieldError(field, ...refusal) : [];
  });
}

export const notFound = (id: string): FieldProblem => ['package_missing', { id }];
