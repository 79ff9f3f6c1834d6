/** Builds the console of the project in `root` unless its build is current. Returns whether it built. */
export function buildConsole(root: string): boolean;
