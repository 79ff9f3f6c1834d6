-- upgrade: rolling
-- reviewed: constraint couriers.couriers_package_formats_allowed_check changed: it accepts all that the one that it replaces accepts.
alter table couriers validate constraint couriers_package_formats_allowed_check;
