import { signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { endLoading } from '../device/loading.js';
import { settings } from '../device/settings.js';
import { scanToFind } from '../find/query.js';
import { OFFICE_GUIDE } from '../guide/sections.js';
import { startSender } from '../queue/sender.js';
import { listenForKeys } from '../scanner/listen.js';
import { watchInput } from '../session/idle.js';
import { ExpiredDialog } from '../session/login.js';
import { isExpired, isLocked, type Session } from '../session/session.js';
import { leave, LeaveDialog } from '../station/leave.js';
import { addFailures } from '../texts/failures.js';
import { addTextsOnUse, t } from '../texts/texts.js';
import { AccountMenu } from '../ui/account-menu.js';
import { keepFocus } from '../ui/focus.js';
import { TimesLine } from '../ui/data/times-line.js';
import { GuideLink } from '../guide/guide-link.js';
import { part } from '../ui/part.js';
import { Empty } from '../ui/parts.js';
import { linkTo, officeAddress, officeLink, openAddress } from '../ui/router.js';
import { OfficeIcon } from './icons.js';
import { OfficeHelp } from './help.js';
import { listenForPalette } from './palette/shortcut.js';
import { officePagesOf, type OfficePage } from './pages.js';
import { en } from './texts/en.js';
import { officeFailuresEs } from './texts/failures-es.js';
import { PasswordQuestion } from './ui/own-password.js';
import { toast, Toasts } from './ui/toasts.js';
import { VIEWS } from './views.js';

/** Loads the texts of the office. Called before it is shown. */
export const loadTexts = (): Promise<void> =>
  addTextsOnUse(en, async () => (await import('./texts/es.js')).es);

addFailures(officeFailuresEs);

const Palette = part(async () => (await import('./palette/palette.js')).Palette, { isOnUse: true });

const isMenuOpen = signal(false);

/** The menu on the left, and one page. For managers and administrators. */
export function Office({ session: current }: { session: Session }) {
  const pages = officePagesOf(current.user.role);
  const at = officeAddress.value;
  const page = pages.find(({ id }) => id === at?.page) ?? (at?.page ? undefined : pages[0]);
  const isPaletteOpen = useSignal(false);
  const isHelpOpen = useSignal(false);
  const main = useRef<HTMLElement>(null);

  // Scans that were made here before wait to be sent.
  useEffect(() => startSender(current), []);
  useEffect(keepFocus, []);
  // A station in another tab of this device stays open meanwhile.
  useEffect(() => watchInput(), []);
  useLayoutEffect(() => listenForPalette(() => (isPaletteOpen.value = true)), []);
  useLayoutEffect(() => listen(() => (isHelpOpen.value = !isHelpOpen.value)), []);
  useEffect(() => {
    // The first page has an address of its own, which can be kept.
    if (page && at && !at.page) openAddress(officeLink(page.id), { isSame: true });
  }, [page, at?.page]);
  useLayoutEffect(() => {
    const title = page ? t(page.title) : t('page.unknown');
    document.title = `${at?.argument ? `${at.argument} · ` : ''}${title} · Crossdock`;
    isMenuOpen.value = false;
  }, [page?.id, at?.argument, settings.value.language]);

  return (
    <div class="workplace office">
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('menu.skip')}
      </a>
      <header class="bar">
        <div class="bar-top">
          <a class="brand" href={officeLink(pages[0]?.id ?? '')}>
            Crossdock
          </a>
          <button
            type="button"
            class="drawer-button"
            aria-expanded={isMenuOpen.value}
            aria-controls="office-menu"
            onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
          >
            {t('office.menu')}
          </button>
        </div>
        <div id="office-menu" class={isMenuOpen.value ? 'drawer drawer-open' : 'drawer'}>
          <button type="button" class="palette-button" onClick={() => (isPaletteOpen.value = true)}>
            {t('palette.title')} <kbd>Ctrl K</kbd>
          </button>
          <nav class="office-menu" aria-label={t('menu.pages')}>
            {pages.map(({ id, title }) => (
              <a key={id} href={officeLink(id)} aria-current={id === page?.id ? 'page' : undefined}>
                <OfficeIcon name={id} />
                <span>{t(title)}</span>
              </a>
            ))}
          </nav>
          <div class="bar-end">
            <a class="button" href={`/console${linkTo('receive')}`}>
              {t('office.station')}
            </a>
            {page && <GuideLink section={OFFICE_GUIDE[page.id]} />}
            <AccountMenu user={current.user} onHelp={() => (isHelpOpen.value = true)} />
          </div>
        </div>
      </header>
      <main id="content" class="office-content" ref={main} tabIndex={-1}>
        <Page page={page} />
        <TimesLine />
      </main>
      <PasswordQuestion />
      <Toasts />
      {isPaletteOpen.value && (
        <Palette role={current.user.role} onClose={() => (isPaletteOpen.value = false)} />
      )}
      {isHelpOpen.value && <OfficeHelp onClose={() => (isHelpOpen.value = false)} />}
      {isExpired.value && <ExpiredDialog onLeave={leave} />}
      <LeaveDialog />
    </div>
  );
}

function Page({ page }: { page: OfficePage | undefined }) {
  if (!page)
    return (
      <Empty isPage title={t('page.unknown')}>
        <a href="/console">{t('page.first')}</a>
      </Empty>
    );
  const View = VIEWS[page.id];
  return <View key={page.id} />;
}

/** The shortcuts, and scanners: a scan opens Find of the station, and never stays in a field of the office. */
function listen(openHelp: () => void): () => void {
  const onShortcut = (event: KeyboardEvent) => {
    if (isLocked.value) return;
    if (event.key === 'F1') openHelp();
    else if (event.altKey && event.code === 'KeyS')
      document.querySelector<HTMLInputElement>('[data-search] input')?.select();
    else return;
    event.preventDefault();
  };
  window.addEventListener('keydown', onShortcut);
  endLoading(() => toast(t('receive.early')));
  const stop = listenForKeys(
    {
      onReading: (reading) => {
        if (reading.kind !== 'scan') toast(t('office.noWeight'));
        else if (document.querySelector('dialog[open]')) toast(t('scan.closeDialog'));
        else scanToFind(reading.scan.text);
      },
      fieldForKeys: () => undefined,
    },
    () => settings.value,
  );
  return () => {
    window.removeEventListener('keydown', onShortcut);
    stop();
  };
}
