const MAX_CHARS = 100;

/** Why a text of a bulk request is rejected. */
export type TextProblem =
  | [problem: 'blank' | 'control_characters']
  | [problem: 'maxLength', args: { limit: number }];

/** Returns why a trimmed code, name or branch of an upload or a synchronisation is rejected, or undefined. */
export function validateText(
  value: string,
  isRequired: boolean,
  maxChars = MAX_CHARS,
): TextProblem | undefined {
  if (value === '') return isRequired ? ['blank'] : undefined;
  // Counting UTF-16 units first avoids the slower count of code points.
  if (value.length > maxChars && [...value].length > maxChars) return ['maxLength', { limit: maxChars }];
  return /\p{Cc}/u.test(value) ? ['control_characters'] : undefined;
}
