/** Returns the paths of the bundles of these programs and of every chunk that they load, with their source maps. */
export function bundleFilesOf(root: string, programs: string[]): string[];
