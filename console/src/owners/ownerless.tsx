import { useState } from 'preact/hooks';
import { settings } from '../device/settings.js';
import { api } from '../session/session.js';
import { dateTime, number, t } from '../texts/texts.js';
import { Code } from '../ui/code.js';
import { useLoad } from '../ui/load.js';
import { Content, Empty, Table } from '../ui/parts.js';
import { StatusTag } from '../ui/status.js';
import { OwnerDialog, type Ownerless } from './owner-dialog.js';
import { dayAfter, localDay } from '../ui/data/days.js';

/** The service has no filter for packages without an owner, so those of the last days are read, only when somebody asks. */
const DAYS = 30;
const LARGEST_PAGE = 10_000;
/** Statuses in which the parcel lies in the warehouse. */
const HERE = new Set(['received', 'on_hold', 'customs_hold', 'released']);

export function OwnerlessParcels() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section class="section">
      <h2>{t('today.withoutOwner')}</h2>
      {isOpen ? (
        <OwnerlessList />
      ) : (
        <div class="actions">
          <button type="button" onClick={() => setIsOpen(true)}>
            {t('owner.show', { days: DAYS })}
          </button>
        </div>
      )}
    </section>
  );
}

async function readOwnerless(signal: AbortSignal) {
  const entryDateFloor = dayAfter(localDay(Date.now(), settings.value.timeZone), -DAYS);
  const { data, meta } = await api().packages.list(
    { entryDateFloor, day_zone: 'tenant', limit: LARGEST_PAGE },
    { signal },
  );
  const rows = data.filter(({ user_code, status }) => !user_code && HERE.has(status));
  return { rows, isCut: meta.total_count > data.length };
}

function OwnerlessList() {
  const parcels = useLoad(readOwnerless, []);
  const [chosen, setChosen] = useState<Ownerless>();
  const [said, setSaid] = useState('');
  return (
    <>
      <p role="status" class={said ? 'success' : undefined}>
        {said}
      </p>
      <Content of={parcels}>
        {({ rows, isCut }) => (
          <>
            {isCut && <p class="notice">{t('owner.cut', { count: LARGEST_PAGE })}</p>}
            {rows.length === 0 ? (
              <Empty title={t('owner.none', { days: number(DAYS) })} />
            ) : (
              <Table
                caption={t('today.withoutOwner')}
                rows={rows}
                keyOf={({ package_id }) => package_id}
                columns={[
                  {
                    title: t('common.house'),
                    cell: ({ house_number }) => <Code text={house_number} isStrong />,
                  },
                  {
                    title: t('common.number'),
                    cell: ({ tracking_number }) => <Code text={tracking_number} />,
                  },
                  {
                    title: t('common.status'),
                    isExtra: true,
                    cell: ({ status }) => <StatusTag status={status} />,
                  },
                  {
                    title: t('common.receivedAt'),
                    isExtra: true,
                    cell: ({ entry_date_time }) => dateTime(entry_date_time),
                  },
                  {
                    title: t('common.owner'),
                    cell: (row) => (
                      <button type="button" class="quiet" onClick={() => setChosen(row)}>
                        {t('owner.give')}
                        <span class="unseen"> {row.house_number}</span>
                      </button>
                    ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Content>
      {chosen && (
        <OwnerDialog
          parcel={chosen}
          onClose={() => setChosen(undefined)}
          onDone={({ user_code }) => {
            setSaid(t('owner.given', { package: chosen.house_number, customer: user_code }));
            setChosen(undefined);
            parcels.reload();
          }}
        />
      )}
    </>
  );
}
