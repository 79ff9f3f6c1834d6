/** A random key of 32 hex digits or more has 8 different characters, except one in ten million. */
const FEWEST_CHARACTERS = 8;

/** Whether a secret has so few different characters that it can be guessed, for example 64 zeros. */
export const isGuessable = (secret: string): boolean =>
  new Set(secret.toLowerCase()).size < FEWEST_CHARACTERS;
