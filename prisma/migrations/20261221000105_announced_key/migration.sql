-- upgrade: rolling
-- The key of the number that the courier announced (docs/decisions/0104). Unlike tracking_key, it does not become that of the package.
-- Null for a further pre-alert of the parcel that an earlier release stored, and for those that servers of the previous release store.
alter table prealerts add column announced_key text;
