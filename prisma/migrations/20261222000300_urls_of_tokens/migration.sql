-- upgrade: rolling
-- The URLs of a courier that a service token has named and no user has sent since (docs/decisions/0116): api_token goes to none of them. The last
-- release has no service tokens, so no stored URL is one of a token.
alter table couriers add column urls_of_tokens text[] default array[]::text[];
