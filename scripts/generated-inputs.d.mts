/** Returns the hash of all files that scripts/generate.mjs reads. */
export function inputsHash(root: string): string;
