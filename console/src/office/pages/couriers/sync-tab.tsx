import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { dateTime, number, t, textOf } from '../../../texts/texts.js';
import { useAction, useLoad } from '../../../ui/load.js';
import { Content, Empty, Problem, Table, Tag } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { toast } from '../../ui/toasts.js';
import type { TabProps } from '../courier-parts.js';

const SHOWN = 50;

export const SyncTab = ({ courier: { courier_id, courier_code } }: TabProps) => (
  <Syncs courierId={courier_id}>
    {t('sync.hint')}{' '}
    <a href={officeLink(['couriers', courier_code, 'webhooks'])}>{t('courierTab.webhooks')}</a>
  </Syncs>
);

type Props = {
  courierId: string;
  /** From where they are fetched, and where that is set. */
  children: ComponentChildren;
};

/** The synchronisations of the courier's customers with its own system. */
export function Syncs({ courierId: courier_id, children }: Props) {
  const [before, setBefore] = useState<string>();
  const runs = useLoad(
    (signal) =>
      api().customers.listSyncs({ courier_id, limit: SHOWN, ...(before ? { before } : {}) }, { signal }),
    [courier_id, before],
  );
  const start = useAction(async () => {
    await api().customers.sync({ courier_id });
    toast(t('sync.queued'));
    runs.reload();
  });
  return (
    <section class="stack">
      <p>{children}</p>
      <div class="actions">
        <button type="button" class="primary" disabled={start.isBusy} onClick={() => start.run()}>
          {t('sync.start')}
        </button>
        <button type="button" onClick={runs.reload}>
          {t('today.refresh')}
        </button>
      </div>
      <Problem text={start.error} />
      <Content of={runs}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={t('sync.none')} />
          ) : (
            <>
              <Table
                caption={t('courierTab.sync')}
                rows={data}
                keyOf={({ run_id }) => run_id}
                columns={[
                  { title: t('office.created'), cell: ({ created_at }) => dateTime(created_at) },
                  {
                    title: t('common.status'),
                    cell: ({ status }) => (
                      <Tag tint={status === 'succeeded' ? 'good' : status === 'failed' ? 'bad' : 'plain'}>
                        {textOf('syncStatus', status)}
                      </Tag>
                    ),
                  },
                  {
                    title: t('import.created'),
                    isNumber: true,
                    cell: ({ created }) => created !== null && number(created),
                  },
                  {
                    title: t('import.updated'),
                    isNumber: true,
                    cell: ({ updated }) => updated !== null && number(updated),
                  },
                  {
                    title: t('import.skipped'),
                    isNumber: true,
                    cell: ({ skipped }) => skipped !== null && number(skipped),
                  },
                  {
                    title: t('sync.result'),
                    cell: ({ error, http_status, problems }) =>
                      [
                        http_status,
                        error,
                        ...problems.slice(0, 3).map(({ index, field, code }) =>
                          t('import.cell', {
                            row: String(index),
                            field: field ?? '',
                            text: textOf('problem', code, code),
                          }),
                        ),
                      ]
                        .filter(Boolean)
                        .join(' · '),
                  },
                ]}
              />
              <div class="pager">
                {before && (
                  <button type="button" onClick={() => setBefore(undefined)}>
                    {t('common.newest')}
                  </button>
                )}
                {meta.next_before && (
                  <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
                    {t('common.older')}
                  </button>
                )}
              </div>
            </>
          )
        }
      </Content>
    </section>
  );
}
