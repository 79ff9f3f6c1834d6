/** Builds the project in `root` unless its build is current. Returns whether it built. */
export function build(root: string): boolean;

/** The programs of a release, as paths of their sources. */
export const PROGRAMS: string[];
