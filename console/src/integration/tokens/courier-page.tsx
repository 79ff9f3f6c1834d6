import { PageTabs } from '../../courier/ui/page-tabs.js';
import { useWanted } from '../../courier/ui/wanted.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { TokenList } from './token-list.js';

/** The service tokens of the courier. */
export function TokensPage() {
  const wanted = useWanted(['token'], linkTo('tokens'));
  return (
    <>
      <Heading title={t('tokens.title')} />
      <PageTabs of="developers" />
      <TokenList of="own" isNew={wanted.opened === 'token'} onClose={wanted.close} />
    </>
  );
}
