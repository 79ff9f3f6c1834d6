import type { ManifestDetail } from '../../../../sdk/typescript/src/index.js';
import { addTexts, t } from '../../texts/texts.js';
import { Changes } from './changes.js';
import { Loads } from './loads.js';
import { manifestHistoryTexts } from './texts.js';

addTexts(manifestHistoryTexts);

/** Who has changed a manifest, and who has loaded which parcel or taken it off, at which station. It is read again with the manifest. */
export const ManifestHistory = ({ detail }: { detail: ManifestDetail }) => (
  <div class="stack history" data-testid="manifest-history">
    <h3>{t('history.changes')}</h3>
    <Changes detail={detail} />
    <h3>{t('history.loads')}</h3>
    <Loads detail={detail} />
  </div>
);
