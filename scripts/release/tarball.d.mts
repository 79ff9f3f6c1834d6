type Part =
  | { folder: string; at?: string; keeps?: (path: string) => boolean }
  | { directory: string; mode?: number; uid?: number; gid?: number };

/** Writes a tar archive whose bytes depend only on names, contents and executable bits. */
export function writeTarball(
  path: string,
  parts: Part[],
  options: { epoch: number; isCompressed?: boolean },
): Promise<void>;
