import { api } from '../session/session.js';
import { goTo } from '../ui/router.js';
import { scanToFind } from './query.js';

// Records that a page knows by their number alone, not by their id.

type Props = { number: string | null | undefined };

/** Opens a manifest. If it cannot be looked up, Find says why. */
export const ManifestLink = ({ number }: Props) =>
  number ? (
    <button type="button" class="link mono" onClick={() => void openManifest(number)}>
      {number}
    </button>
  ) : null;

async function openManifest(number: string): Promise<void> {
  try {
    const { data } = await api().packages.resolveScan({ scan: number });
    const [found] = data.matches.manifests;
    if (found) {
      goTo('manifests', found.manifest_id);
      return;
    }
  } catch {
    // Find looks it up again, and shows the failure.
  }
  scanToFind(number);
}

/** Opens a package in Find, by its house number. */
export const PackageLink = ({ number }: Props) =>
  number ? (
    <button type="button" class="link mono strong" onClick={() => scanToFind(number)}>
      {number}
    </button>
  ) : null;
