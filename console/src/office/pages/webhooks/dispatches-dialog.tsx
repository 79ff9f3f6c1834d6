import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, number, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Dialog, Table } from '../../../ui/parts.js';

const SHOWN = 20;

type Props = { couriers: CourierRecord[] | undefined; onClose: () => void };

/** The latest batches of parcels that somebody has sent to couriers' systems again, and how far each is. */
export function DispatchesDialog({ couriers, onClose }: Props) {
  const batches = useLoad(
    async (signal) => (await api().packages.listDispatches({ limit: SHOWN }, { signal })).data,
    [],
  );
  const nameOf = (id: string | null) =>
    couriers?.find(({ courier_id }) => courier_id === id)?.courier_name ?? t('hooks.staff');
  return (
    <Dialog title={t('hooks.batches')} onClose={onClose}>
      <p class="muted">{t('hooks.batchesHint')}</p>
      <Content of={batches}>
        {(rows) =>
          rows.length === 0 ? (
            <p>{t('hooks.noBatches')}</p>
          ) : (
            <Table
              caption={t('hooks.batches')}
              rows={rows}
              keyOf={({ dispatch_id }) => dispatch_id}
              columns={[
                { title: t('hooks.batchAt'), cell: ({ requested_at }) => dateTime(requested_at) },
                { title: t('hooks.batchBy'), cell: ({ courier_id }) => nameOf(courier_id) },
                {
                  title: t('common.packages'),
                  cell: ({ total_queued: queued }) => number(queued),
                  isNumber: true,
                },
                {
                  title: t('hooks.waiting'),
                  cell: ({ progress: { queued, sending } }) => number(queued + sending),
                  isNumber: true,
                },
                {
                  title: t('hooks.batchSent'),
                  cell: ({ progress: { sent, superseded } }) => number(sent + superseded),
                  isNumber: true,
                },
                {
                  title: t('hooks.batchFailed'),
                  cell: ({ progress: { failed } }) => number(failed),
                  isNumber: true,
                },
              ]}
            />
          )
        }
      </Content>
    </Dialog>
  );
}
