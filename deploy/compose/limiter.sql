-- The database of the request budget, which all workers share: TRANSIT_LIMITER_URL.
create database limiter;
