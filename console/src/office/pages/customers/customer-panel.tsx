import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty } from '../../../ui/parts.js';
import { officeAddress, officeLink } from '../../../ui/router.js';
import { Panel } from '../../ui/panel.js';
import { CustomerDetails } from './customer-details.js';

type Props = {
  code: string;
  /** Couriers may use the same codes. */
  courierId: string | undefined;
  closeLink: string;
  onChanged: () => void;
};

const MOST = 100;

/** A customer beside the list. Its address is its code. */
export function CustomerPanel({ code, courierId, closeLink, onChanged }: Props) {
  const customers = useLoad(
    async (signal) => {
      const { data } = await api().customers.list(
        {
          search: code,
          limit: MOST,
          sort_by: 'user_code',
          sort_dir: 'ASC',
          ...(courierId ? { courier_id: courierId } : {}),
        },
        { signal },
      );
      return data.filter(({ user_code }) => user_code === code);
    },
    [code, courierId],
  );
  const changed = () => {
    customers.reload();
    onChanged();
  };
  return (
    <Panel title={code} closeLink={closeLink}>
      <Content of={customers}>
        {([first, ...others]) =>
          first === undefined ? (
            <Empty title={t('customers.unknown', { code })}>{t('customers.unknownHint')}</Empty>
          ) : others.length > 0 ? (
            <div class="stack">
              <p>{t('customers.several', { code })}</p>
              <ul class="stack">
                {[first, ...others].map(({ courier_id, courier_name, first_name, last_name }) => (
                  <li key={courier_id}>
                    <a href={officeLink(['customers', code], { of: courier_id })}>
                      {courier_name}: {first_name} {last_name}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ) : (
            <CustomerDetails
              customer={first}
              links={
                <a class="button" href={officeLink('parcels', { customer: code, courier: first.courier_id })}>
                  {t('customers.parcels')}
                </a>
              }
              linkOf={(renamed) => officeLink(['customers', renamed], officeAddress.value?.query ?? {})}
              closeLink={closeLink}
              onChanged={changed}
            />
          )
        }
      </Content>
    </Panel>
  );
}
