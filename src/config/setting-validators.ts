import { makeExactValidator } from 'envalid';

// Messages follow the name of the setting. They never contain the value, because it may be secret.

/** For optional settings. */
export const UNSET = { default: undefined };

export const text = makeExactValidator<string>((value) => value);

export const flag = makeExactValidator<boolean>((value) => {
  if (value !== 'true' && value !== 'false') throw new Error('must be true or false');
  return value === 'true';
});

export const textLike = (pattern: RegExp, expected: string) =>
  makeExactValidator<string>((value) => {
    if (!pattern.test(value)) throw new Error(expected);
    return value;
  });

export const wholeNumber = (minimum: number, maximum: number) =>
  makeExactValidator<number>((value) => {
    const number = Number(value);
    if (value.trim() === '' || !Number.isInteger(number)) throw new Error('must be integer');
    if (number < minimum) throw new Error(`must be >= ${minimum}`);
    if (number > maximum) throw new Error(`must be <= ${maximum}`);
    return number;
  });

/** @param expected the error message; by default it lists the choices */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], expected?: string) =>
  makeExactValidator<Choice>((value) => {
    const found = choices.find((choice) => choice === value);
    if (found) return found;
    throw new Error(expected ?? `must be equal to one of the allowed values: ${choices.join(', ')}`);
  });
