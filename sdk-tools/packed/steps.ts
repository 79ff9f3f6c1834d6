import { faultOfAttempts } from '../faults/check.js';
import type { Fault } from '../faults/faults.js';
import { differs, type Seen, type Step } from '../scenario/steps.js';

/** What happens to the writes of the packed program: the first response is cut in its body. */
export const PACKED_FAULTS: Fault[] = ['cut'];

/** What a program does that has an SDK only from its packed file. */
export const PACKED_STEPS: Step[] = [
  {
    title: 'packed: install, first call',
    async check(seen, { id, observer }) {
      const { data } = await observer.get(`ManagePrealerts.php?search=${id}-1`);
      const [stored] = data as Seen[];
      return differs('prealert_id', seen['prealert_id'], stored?.['prealert_id']);
    },
  },
  {
    title: 'packed: retry after a cut body',
    async check(seen, { id, observer, proxy }) {
      const { data } = await observer.get(`ManagePrealerts.php?search=${id}-2`);
      const stored = (data as Seen[]).map((each) => each['prealert_id']);
      return faultOfAttempts(proxy.attempts, 2) ?? differs('prealert_ids', stored, [seen['prealert_id']]);
    },
  },
  {
    title: 'packed: a list over pages',
    async check(seen, { id, observer }) {
      const { data } = await observer.get(`ManagePrealerts.php?search=${id}-`);
      const stored = (data as Seen[]).map((each) => String(each['tracking_number'])).sort();
      const seconds = Date.parse(`${String((data as Seen[])[0]?.['created_at']).replace(' ', 'T')}Z`) / 1000;
      return (
        differs('tracking_numbers', [...(seen['tracking_numbers'] as string[])].sort(), stored) ??
        // The newest record is the first one, in both.
        differs('created_at in seconds since 1970', seen['newest'], seconds)
      );
    },
  },
  {
    title: 'packed: a webhook, and what the hook saw',
    async check(seen, { id }) {
      const { attempts } = seen as { attempts?: Seen[] };
      return (
        differs('tracking_number', seen['tracking_number'], `${id}-1`) ??
        differs('tampered', seen['tampered'], false) ??
        differs(
          'attempts of the hook',
          attempts?.map((each) => [
            each['operation'],
            each['attempt'],
            each['status'],
            each['request_id'] !== '',
          ]),
          [
            ['submitPrealert', 1, null, false],
            ['submitPrealert', 2, 201, true],
          ],
        )
      );
    },
  },
  {
    title: 'packed: the base URL of a sandbox',
    async check(seen, { id, observer, sandbox }) {
      const search = `ManagePrealerts.php?search=${id}-3`;
      const stored = (await sandbox?.observer.get(search))?.data as Seen[] | undefined;
      return (
        differs('prealert_id', seen['prealert_id'], stored?.[0]?.['prealert_id']) ??
        differs('live pre-alerts', (await observer.get(search)).data, [])
      );
    },
  },
];
