import type { Prealert } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { nearNumbers, partsOf } from './near.js';

type Props = { scan: string; onChoose: (number: string) => void };

/** Announced numbers that differ from an unknown one by a character or two: the label may be damaged. */
export function NearMatches({ scan, onChoose }: Props) {
  const found = useLoad((signal) => findNear(scan, signal), [scan]);
  if (!found.data?.length) return null;
  return (
    <div class="question" role="group" aria-label={t('near.title')} data-testid="near">
      <p>{t('near.title')}</p>
      <div class="actions">
        {found.data.map(({ prealert_id, tracking_number, user_code }) => (
          <button key={prealert_id} type="button" onClick={() => onChoose(tracking_number)}>
            <span class="mono">{tracking_number}</span> · {user_code}
          </button>
        ))}
      </div>
    </div>
  );
}

/** The service finds numbers by a part of them. If a character is wrong, one half is right. */
async function findNear(scan: string, signal: AbortSignal): Promise<Prealert[]> {
  const lists = await Promise.all(
    partsOf(scan).map((search) => api().prealerts.list({ search, status: 'pending', limit: 20 }, { signal })),
  );
  return nearNumbers(
    scan,
    lists.flatMap(({ data }) => data),
  );
}
