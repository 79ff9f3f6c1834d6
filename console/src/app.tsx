import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { FunctionComponent } from 'preact';
import { AnnouncePage } from './courier/announce.js';
import { BillsPage } from './courier/bills.js';
import { ParcelsPage } from './courier/parcels.js';
import { WebhooksPage } from './courier/webhooks.js';
import { settings } from './device/settings.js';
import { pagesOf, type PageId, type PageInfo } from './pages.js';
import { QueueIndicator, QueuePanel } from './queue/panel.js';
import { startSender } from './queue/sender.js';
import { listenForScans } from './scanner/listen.js';
import { PasswordPage, SecondFactorPage } from './session/first-login.js';
import { ExpiredDialog, LoginPage } from './session/login.js';
import { isExpired, session, type Session } from './session/session.js';
import { FindPage, scanToFind } from './staff/find.js';
import { FlaggedPage } from './staff/flagged.js';
import { LoadPage } from './staff/load.js';
import { ManifestsPage } from './staff/manifests.js';
import { ReceivePage } from './staff/receive.js';
import { TodayPage } from './staff/today.js';
import { t } from './texts/texts.js';
import { HelpDialog } from './ui/help.js';
import { Icon } from './ui/icons.js';
import { giveScan } from './ui/keys.js';
import { Empty } from './ui/parts.js';
import { clearOutcome } from './ui/outcome.js';
import { goTo, linkTo, route } from './ui/router.js';
import { AccountMenu } from './ui/account-menu.js';

const VIEWS: Record<PageId, FunctionComponent> = {
  receive: ReceivePage,
  load: LoadPage,
  find: FindPage,
  manifests: ManifestsPage,
  flagged: FlaggedPage,
  today: TodayPage,
  parcels: ParcelsPage,
  announce: AnnouncePage,
  webhooks: WebhooksPage,
  bills: BillsPage,
};

export function App() {
  document.documentElement.lang = settings.value.language;
  const current = session.value;
  if (!current) return <LoginPage />;
  const { user } = current;
  return (
    <>
      {user.must_change_password ? (
        <PasswordPage />
      ) : user.must_set_up_two_factor ? (
        <SecondFactorPage />
      ) : (
        <Workplace key={user.id} session={current} />
      )}
      {isExpired.value && <ExpiredDialog />}
    </>
  );
}

/** The menu and one page. */
function Workplace({ session: current }: { session: Session }) {
  const pages = pagesOf(current.user.role);
  const page = pages.find(({ id }) => id === route.value.page) ?? pages[0];
  const isHelpOpen = useSignal(false);
  const isStaff = current.user.role !== 'courier';

  useEffect(() => (isStaff ? startSender(current) : undefined), []);
  // Before the page is painted, so that no scan falls between.
  useLayoutEffect(() => listenForKeys(pages, isStaff, () => (isHelpOpen.value = !isHelpOpen.value)), []);
  useEffect(() => {
    clearOutcome();
    if (page) document.title = `${t(page.title)} · Crossdock`;
  }, [page?.id, settings.value.language]);

  if (!page) return <Empty title={t('menu.noPages')} />;
  const View = VIEWS[page.id];
  return (
    <div class="workplace">
      <a class="skip" href="#content" onClick={skipToContent}>
        {t('menu.skip')}
      </a>
      <header class="bar">
        <a class="brand" href={linkTo(pages[0]?.id ?? '')}>
          Crossdock
        </a>
        <nav class="menu" aria-label={t('menu.pages')}>
          {pages.map(({ id, title }) => (
            <a key={id} href={linkTo(id)} aria-current={id === page.id ? 'page' : undefined}>
              <Icon name={id} />
              <span>{t(title)}</span>
            </a>
          ))}
        </nav>
        <div class="bar-end">
          {isStaff && <QueueIndicator />}
          <AccountMenu user={current.user} onHelp={() => (isHelpOpen.value = true)} />
        </div>
      </header>
      {isStaff && <QueuePanel />}
      <main id="content" tabIndex={-1}>
        <View key={page.id} />
      </main>
      {isHelpOpen.value && <HelpDialog pages={pages} onClose={() => (isHelpOpen.value = false)} />}
    </div>
  );
}

/** The address is the page's, so the link may not change it. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function listenForKeys(pages: PageInfo[], isStaff: boolean, toggleHelp: () => void): () => void {
  const openPage = (digit: string) => {
    const page = pages[Number(digit) - 1];
    if (page) goTo(page.id);
  };
  const onAltDigit = (event: KeyboardEvent) => {
    if (!event.altKey || !/^Digit[1-9]$/.test(event.code)) return;
    event.preventDefault();
    openPage(event.code.slice('Digit'.length));
  };
  window.addEventListener('keydown', onAltDigit);
  const stop = listenForScans(
    {
      onScan: (scan) => {
        if (!giveScan(scan) && isStaff) scanToFind(scan);
      },
      onKey: (key) => {
        if (key === '?') toggleHelp();
        else if (key === '/') focusSearch();
        else if (/^[1-9]$/.test(key)) openPage(key);
      },
    },
    () => settings.value,
  );
  return () => {
    window.removeEventListener('keydown', onAltDigit);
    stop();
  };
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('[data-search] input')?.focus();
}
