/** Builds the project in `root` unless its build is current. Returns whether it built. */
export function build(root: string): boolean;
