import { CustomerDetails } from '../../office/pages/customers/customer-details.js';
import { Panel } from '../../office/ui/panel.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Content, Empty } from '../../ui/parts.js';
import { linkTo, route } from '../../ui/router.js';

type Props = { code: string; closeLink: string; onChanged: () => void };

const MOST = 100;

/** A customer beside the list. Its address is its code. */
export function CustomerPanel({ code, closeLink, onChanged }: Props) {
  const found = useLoad(
    async (signal) => {
      const { data } = await api().customers.list(
        { search: code, limit: MOST, sort_by: 'user_code', sort_dir: 'ASC' },
        { signal },
      );
      return { customer: data.find(({ user_code }) => user_code === code) };
    },
    [code],
  );
  return (
    <Panel title={code} closeLink={closeLink}>
      <Content of={found}>
        {({ customer }) =>
          customer ? (
            <CustomerDetails
              customer={customer}
              links={
                <>
                  <a class="button" href={linkTo('parcels', undefined, { search: code })}>
                    {t('customers.parcels')}
                  </a>
                  <a class="button" href={linkTo('announce', undefined, { search: code })}>
                    {t('announce.list')}
                  </a>
                </>
              }
              linkOf={(renamed) => linkTo('customers', renamed, route.value.query)}
              closeLink={closeLink}
              onChanged={() => {
                found.reload();
                onChanged();
              }}
            />
          ) : (
            <Empty title={t('customers.unknown', { code })}>{t('customers.unknownHint')}</Empty>
          )
        }
      </Content>
    </Panel>
  );
}
