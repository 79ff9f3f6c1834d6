import { useState } from 'preact/hooks';
import { api } from '../session/session.js';
import { CustomerSearch, type Customer } from '../staff/customer-search.js';
import { dateTime, t, textOf } from '../texts/texts.js';
import { useScans } from '../ui/keys.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Empty, Field, Heading, Problem, Table, Tag } from '../ui/parts.js';
import { Pages } from './parcels.js';
import { Code } from '../ui/code.js';
import { Customer as CustomerName } from '../ui/owner.js';

const PER_PAGE = 25;

export function AnnouncePage() {
  const [page, setPage] = useState(1);
  const prealerts = useLoad((signal) => api().prealerts.list({ page, limit: PER_PAGE }, { signal }), [page]);
  return (
    <>
      <Heading title={t('announce.title')} />
      <AnnounceForm onDone={prealerts.reload} />
      <section class="section">
        <h2>{t('announce.list')}</h2>
        <Content of={prealerts}>
          {({ data, meta }) =>
            data.length === 0 ? (
              <Empty title={t('announce.none')}>{t('announce.noneHint')}</Empty>
            ) : (
              <>
                <Table
                  caption={t('announce.list')}
                  rows={data}
                  keyOf={({ prealert_id }) => prealert_id}
                  columns={[
                    {
                      title: t('common.number'),
                      cell: ({ tracking_number }) => <Code text={tracking_number} />,
                    },
                    {
                      title: t('common.status'),
                      cell: ({ status }) => (
                        <Tag tint={status === 'flagged' ? 'warn' : status === 'received' ? 'good' : 'plain'}>
                          {textOf('prealert', status)}
                        </Tag>
                      ),
                    },
                    {
                      title: t('common.customer'),
                      cell: ({ user_code, first_name, last_name }) => (
                        <CustomerName code={user_code} names={[first_name, last_name]} />
                      ),
                    },
                    { title: t('common.vendor'), isExtra: true, cell: ({ vendor }) => vendor ?? '' },
                    {
                      title: t('announce.at'),
                      isExtra: true,
                      cell: ({ created_at }) => dateTime(created_at),
                    },
                  ]}
                />
                <Pages page={page} pages={meta.total_pages} onPage={setPage} />
              </>
            )
          }
        </Content>
      </section>
    </>
  );
}

function AnnounceForm({ onDone }: { onDone: () => void }) {
  const [trackingNumber, setTrackingNumber] = useState('');
  const [vendor, setVendor] = useState('');
  const [description, setDescription] = useState('');
  const [customer, setCustomer] = useState<Customer>();
  const [announced, setAnnounced] = useState<string>();
  useScans(({ text }) => setTrackingNumber(text));
  const send = useAction(async () => {
    if (!customer) throw new Error(t('announce.chooseCustomer'));
    setAnnounced(undefined);
    await api().prealerts.create({
      tracking_number: trackingNumber.trim(),
      user_code: customer.user_code,
      vendor: vendor.trim(),
      ...(description.trim() ? { description: description.trim() } : {}),
    });
    setAnnounced(trackingNumber.trim());
    setTrackingNumber('');
    setDescription('');
    onDone();
  });
  return (
    <form
      class="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        send.run();
      }}
    >
      <Field
        label={t('common.number')}
        hint={t('announce.numberHint')}
        value={trackingNumber}
        required
        maxLength={255}
        onValue={setTrackingNumber}
      />
      {customer ? (
        <p class="chosen">
          <span class="strong">{customer.user_code}</span> {customer.first_name} {customer.last_name}{' '}
          <button type="button" class="quiet" onClick={() => setCustomer(undefined)}>
            {t('announce.otherCustomer')}
          </button>
        </p>
      ) : (
        <CustomerSearch label={t('common.customer')} onChoose={setCustomer} />
      )}
      <div class="pair">
        <Field label={t('common.vendor')} value={vendor} required maxLength={255} onValue={setVendor} />
        <Field
          label={t('announce.description')}
          value={description}
          maxLength={2000}
          onValue={setDescription}
        />
      </div>
      <Problem text={send.error} />
      {announced && (
        <p class="success" role="status">
          {t('announce.done', { number: announced })}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="primary" disabled={send.isBusy}>
          {t('announce.send')}
        </button>
      </div>
    </form>
  );
}
