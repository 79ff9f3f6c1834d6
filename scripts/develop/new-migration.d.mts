/** Returns the name of a new migration, which sorts after all others. */
export function nameAfter(names: string[], title: string, now: Date): string;
