import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Heading } from '../../../ui/parts.js';
import { part } from '../../../ui/part.js';
import { officeAddress, officeLink } from '../../../ui/router.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { Tabs } from '../../ui/tabs.js';
import type { TabProps } from '../courier-parts.js';
import { activate, DeactivateDialog } from './deactivate.js';
import { BillsTab } from './bills-tab.js';
import { KeyTab } from './key-tab.js';
import { ProfileTab } from './profile-tab.js';
import { RatesTab } from './rates-tab.js';
import { StatementTab } from './statement-tab.js';
import { SyncTab } from './sync-tab.js';
import { UsersTab } from './users-tab.js';
import { WebhooksTab } from './webhooks-tab.js';

/** Few look at it, so it loads with its first use. */
const CallsTab = part<TabProps>(
  async () => (await import('../../../integration/calls/courier-tab.js')).loadCallsTab(),
  { isOnUse: true },
);

/** The same. */
const TokensTab = part<TabProps>(
  async () => (await import('../../../integration/tokens/office-tabs.js')).CourierTokensTab,
  { isOnUse: true },
);

/** The same. */
const SandboxTab = part<TabProps>(
  async () => (await import('../../../integration/sandbox/courier-tab.js')).SandboxTab,
  { isOnUse: true },
);

/** The same. */
const FeedsTab = part<TabProps>(
  async () => (await import('../../../integration/feeds/courier-tab.js')).loadFeedsTab(),
  { isOnUse: true },
);

/** The same. */
const TrackingTab = part<TabProps>(
  async () => (await import('../../../integration/tracking/settings-form.js')).TrackingTab,
  { isOnUse: true },
);

const TABS = {
  profile: ProfileTab,
  users: UsersTab,
  key: KeyTab,
  tokens: TokensTab,
  webhooks: WebhooksTab,
  feeds: FeedsTab,
  tracking: TrackingTab,
  calls: CallsTab,
  sandbox: SandboxTab,
  rates: RatesTab,
  bills: BillsTab,
  statement: StatementTab,
  sync: SyncTab,
};

type TabId = keyof typeof TABS;

const IDS = Object.keys(TABS) as TabId[];

/** A courier with its parts. */
export function CourierPage({ code }: { code: string }) {
  const tab = officeAddress.value?.tab ?? 'profile';
  const couriers = useLoad(
    async (signal) => {
      const { data } = await api().couriers.list({ search: code, limit: 100 }, { signal });
      return data.filter(({ courier_code }) => courier_code === code);
    },
    [code],
  );
  const id = IDS.find((each) => each === tab);
  return (
    <Content of={couriers}>
      {([courier]) =>
        courier ? (
          <>
            <CourierHeading courier={courier} onChanged={couriers.reload} />
            <Tabs
              base={['couriers', code]}
              tabs={IDS.map((each) => [each, t(`courierTab.${each}`)])}
              current={tab}
            />
            {id ? (
              <CourierTab key={id} id={id} courier={courier} onChanged={couriers.reload} />
            ) : (
              <Empty title={t('page.unknown')}>
                <a href={officeLink(['couriers', code])}>{courier.courier_name}</a>
              </Empty>
            )}
          </>
        ) : (
          <Empty isPage title={t('couriers.unknown', { code })}>
            <a href={officeLink('couriers')}>{t('couriers.all')}</a>
          </Empty>
        )
      }
    </Content>
  );
}

function CourierTab({ id, ...props }: TabProps & { id: TabId }) {
  const View = TABS[id];
  return <View {...props} />;
}

function CourierHeading({ courier, onChanged }: TabProps) {
  const [isEnding, setIsEnding] = useState(false);
  return (
    <>
      <p>
        <a href={officeLink('couriers')}>{t('couriers.title')}</a>
      </p>
      <Heading title={`${courier.courier_name} (${courier.courier_code})`}>
        <ActiveTag isActive={courier.is_active} />
        {courier.is_active ? (
          <button type="button" class="danger" onClick={() => setIsEnding(true)}>
            {t('office.deactivate')}
          </button>
        ) : (
          <button type="button" onClick={() => void activate([courier], onChanged)}>
            {t('office.activate')}
          </button>
        )}
      </Heading>
      {isEnding && (
        <DeactivateDialog couriers={[courier]} onClose={() => setIsEnding(false)} onChanged={onChanged} />
      )}
    </>
  );
}
