-- Macros of the datasets' queries. Instants are computed as whole microseconds UTC (`_us`).
-- A zone is a struct {early, late, changed}: the offset before and from the one change near an instant.

-- Marks of a raw line: an answer that may hold rows; and a body of passages without anything unspecified, in which no
-- name stands twice and no character is written as half of a pair.
create or replace temp macro may_hold_rows(outcome, api_version, body) as
    outcome = 'ok' and api_version = 1 and body is not null;
create or replace temp macro has_plain_shape(endpoint, body) as coalesce(
    endpoint = 'passages' and regexp_full_match(body, passages_shape())
    and not contains(body, '\ud') and not contains(body, '\uD'), false);

-- The instant whose service date a request has: when it was planned, or when it was answered if the clock was set by
-- days between them.
create or replace temp macro date_from(planned_at, received_at) as
    case when abs(epoch_us(received_at) - epoch_us(planned_at)) > 86400000000 then received_at else planned_at end;

create or replace temp macro json_pointer(name) as '/' || replace(replace(name, '~', '~0'), '/', '~1');

-- A JSON value as text, flag, whole number or list; null if it is not of that type.
create or replace temp macro as_text(value) as
    case when json_type(value) not in ('ARRAY', 'OBJECT', 'NULL') then value ->> '$' end;
create or replace temp macro as_flag(value) as try_cast(as_text(value) as boolean);
create or replace temp macro as_whole(value) as
    case when try_cast(as_text(value) as double) = try_cast(as_text(value) as bigint)
        then try_cast(as_text(value) as bigint) end;
create or replace temp macro as_list(value) as
    case when json_type(value) = 'ARRAY' then from_json(value, '["JSON"]') end;

create or replace temp macro fits(kind, value) as case
    when json_type(value) = 'NULL' then kind is not null
    when kind = 'text' then json_type(value) not in ('ARRAY', 'OBJECT')
    when kind = 'flag' then as_flag(value) is not null
    when kind = 'whole' then as_whole(value) is not null
    when kind = 'list' then json_type(value) = 'ARRAY'
    when kind = 'object' then json_type(value) = 'OBJECT'
    when kind = 'any' then true
    else false end;

-- Members of an object that no column holds, as JSON `"name":value` texts: unspecified names, and
-- values that did not convert. `kinds` maps the specified names to types; a name found at another level gets its
-- `prefix`.
create or replace temp macro left_over(value, kinds, prefix) as
    case when json_type(value) = 'OBJECT' then list_transform(
        list_filter(
            list_distinct(json_keys(value)),
            lambda name: not fits(kinds[name], json_extract(value, json_pointer(name)))
        ),
        lambda name: to_json(prefix || name) || ':' || json_extract(value, json_pointer(name))
    ) else ['"value":' || coalesce(value, 'null')] end;

-- One member, kept when `is_odd`: the answer contradicts its request.
create or replace temp macro odd_member(is_odd, name, value) as
    case when coalesce(is_odd, false) then [to_json(name) || ':' || to_json(value)] else [] end;

create or replace temp macro extra_text(members) as
    case when len(members) > 0 then '{' || array_to_string(list_sort(members), ',') || '}' end;

-- Texts without entities and without runs of spaces. `decode_entities` is a function of transit_etl/entities.py.
create or replace temp macro clean_spaces(text) as
    case when contains(text, '  ') or contains(text, chr(9)) or contains(text, chr(10)) or contains(text, chr(13))
        then trim(regexp_replace(text, '\s+', ' ', 'g')) else trim(text) end;
create or replace temp macro clean_text(text) as
    clean_spaces(case when contains(text, '&') then decode_entities(text) else text end);

-- A clock time in microseconds; hours may pass 24.
create or replace temp macro slow_clock_us(text) as case
    when regexp_full_match(trim(text), '\d{1,3}:[0-5]?\d(:[0-5]?\d)?')
        then (split_part(trim(text), ':', 1)::bigint * 3600 + split_part(trim(text), ':', 2)::bigint * 60
            + coalesce(try_cast(split_part(trim(text), ':', 3) as bigint), 0)) * 1000000 end;
create or replace temp macro clock_us(text) as coalesce(epoch_us(try_cast(text as time)), slow_clock_us(text));

create or replace temp macro instant_us(text) as epoch_us(try_cast(text as timestamptz));

create or replace temp macro offset_at(us, zone) as
    case when us < zone.changed then zone.early else zone.late end;

-- The likelier of two instants, each with the offset it assumes: one that clocks do show, or else the nearer.
create or replace temp macro likelier(us_1, offset_1, us_2, offset_2, near_us, zone) as
    case when row(offset_at(us_1, zone) <> offset_1, abs(us_1 - near_us), us_1)
            <= row(offset_at(us_2, zone) <> offset_2, abs(us_2 - near_us), us_2)
        then us_1 else us_2 end;

-- The instant nearest `near_us` at which clocks show a time under an offset: within twelve hours of it.
create or replace temp macro reading_us(clock, near_us, seconds) as
    near_us + (clock - (near_us + seconds) % 86400000000 + 129600000000) % 86400000000 - 43200000000;

create or replace temp macro nearest_us(clock, near_us, zone) as case
    when offset_at(near_us - 43200000000, zone) = offset_at(near_us + 43200000000, zone)
        then reading_us(clock, near_us, offset_at(near_us, zone))
    else likelier(
        reading_us(clock, near_us, offset_at(near_us - 43200000000, zone)),
        offset_at(near_us - 43200000000, zone),
        reading_us(clock, near_us, offset_at(near_us + 43200000000, zone)),
        offset_at(near_us + 43200000000, zone),
        near_us, zone
    ) end;

-- The instant of a written local date and time; of two, the one nearest `near_us`.
create or replace temp macro local_us(written_us, near_us, zone) as likelier(
    written_us - zone.early, zone.early, written_us - zone.late, zone.late, near_us, zone);

create or replace temp macro service_date_at(us, zone) as
    date '1970-01-01' + ((us + offset_at(us, zone) - cutoff_us()) // 86400000000)::integer;

create or replace temp macro day_start_us(day, zone) as
    epoch_us(day::timestamp) - offset_at(epoch_us(day::timestamp) + 43200000000 - zone.early, zone);

create or replace temp macro departure_us(day, clock, zone) as case
    when clock < cutoff_us()
        then nearest_us(clock, day_start_us(day, zone) + clock + 86400000000, zone)
    when clock >= 86400000000 then day_start_us(day, zone) + clock
    else nearest_us(clock, day_start_us(day, zone) + clock, zone) end;

create or replace temp macro seconds_into(us, start_us) as
    (us - start_us - (us - start_us) % 1000000) // 1000000;

-- `18'` is 18 minutes; any other text is null. The common form is recognised by casting it back, which is fast.
create or replace temp macro minutes_written(text) as case
    when regexp_full_match(text, '\s*\d{1,4}\s*[''’′]?\s*') then rtrim(trim(text), ' ''’′')::double end;
create or replace temp macro whole_minutes(text) as case
    when try_cast(left(text, -1) as usmallint)::varchar || '''' = text then try_cast(left(text, -1) as usmallint)::double
    else minutes_written(text) end;
