-- One row per passage listed. A body that holds exactly the keys and types of the specification is parsed
-- straight into columns; any other is read member by member, so that members without a column are kept in `extra`.
create or replace temp table answers as
with parsed as (
    select
        operator, request_id, "window", received_at, sent_at, "key" as stop_code, body,
        try(from_json(body, '{"codice_fermata": "VARCHAR", "timestamp": "VARCHAR", "passaggi": [{
            "linea": "VARCHAR", "destinazione": "VARCHAR", "orario": "VARCHAR", "attesa": "VARCHAR",
            "teorico": "BOOLEAN", "id_corsa": "VARCHAR", "pieno": "BOOLEAN", "extra": "VARCHAR"}]}')) as b,
        has_shape
    from raw
    where is_read
),
timed as (
    select
        * exclude (has_shape),
        instant_us(b."timestamp") as answered_us,
        coalesce(has_shape and b.codice_fermata = stop_code and answered_us is not null, false) as is_plain,
        case when not is_plain then try(body::json) end as j,
        case when not is_plain then
            left_over(j, map {
                'codice_fermata': 'text', 'timestamp': 'text', 'passaggi': 'list'
            }, 'answer.')
            || odd_member(b.codice_fermata <> stop_code, 'answer.codice_fermata', b.codice_fermata)
            || odd_member(b."timestamp" is not null and answered_us is null, 'answer.timestamp', b."timestamp")
        end as answer_members
    from parsed
),
listed as (
    select
        operator, request_id, "window", received_at, stop_code, answered_us,
        -- An answer may come from a cache, but not from the future: beyond that the upstream's clock is wrong. A cache
        -- gives answers of all ages up to its limit, a wrong clock the same to all.
        case
            when answered_us between epoch_us(coalesce(sent_at, received_at)) - 120000000
                and epoch_us(received_at) + 5000000 then answered_us
            when count(*) filter (age_us > freshest_us + 20000000) over one_window > 0.2 * count(*) over one_window
                and freshest_us between -5000000 and 120000000
                and age_us between -5000000 and 900000000 then answered_us
            else epoch_us(received_at)
        end as observed_us,
        case
            when b is null then null
            when is_plain then b.passaggi
            else list_transform(as_list(j -> 'passaggi'), lambda p: {
                linea: as_text(p -> 'linea'), destinazione: as_text(p -> 'destinazione'),
                orario: as_text(p -> 'orario'), attesa: as_text(p -> 'attesa'), teorico: as_flag(p -> 'teorico'),
                id_corsa: as_text(p -> 'id_corsa'), pieno: as_flag(p -> 'pieno'),
                extra: extra_text(answer_members || left_over(p, map {
                    'linea': 'text', 'destinazione': 'text', 'orario': 'text', 'attesa': 'text',
                    'teorico': 'flag', 'id_corsa': 'text', 'pieno': 'flag'
                }, ''))
            })
        end as passages
    from (
        select
            *,
            epoch_us(received_at) - answered_us as age_us,
            quantile_cont(epoch_us(received_at) - answered_us, 0.1) over (partition by operator, "window") as freshest_us
        from timed
    )
    window one_window as (partition by operator, "window")
)
select *, len(passages) as n_rows from listed
order by received_at, request_id;

with passages as (
    select
        * exclude (passages, n_rows),
        unnest(range(1, n_rows + 1)) as row_number,
        unnest(passages) as p
    from answers
),
timed as (
    select
        *,
        whole_minutes(p.attesa) as wait_minutes,
        -- In the hour that clocks show twice the wait tells which of the two times is meant.
        observed_us + case when wait_minutes <= 120 then wait_minutes::bigint * 60000000 else 0 end as due_us,
        nearest_us(clock_us(p.orario), due_us, window_zone()) as predicted_us
    from passages
),
aged as (
    -- An old answer says so by waits that are longer than its clock times allow, whatever its timestamp: of all its
    -- rows, and by different times in a window, because a cache gives answers of all ages up to its limit.
    select
        * replace (
            observed_us - case
                when freshest_us - oldest_us > 90000000 and gap_us between -900000000 and freshest_us
                    then freshest_us - gap_us
                else 0
            end as observed_us
        )
    from (
        select
            *,
            quantile_disc(gap_us, 0.95) over (partition by operator, "window") as freshest_us,
            quantile_disc(gap_us, 0.1) over (partition by operator, "window") as oldest_us
        from (
            select
                *,
                max(predicted_us - due_us) filter (wait_minutes <= 120) over (partition by operator, request_id) as gap_us
            from timed
        )
    )
),
dated as (
    select *, service_date_at(predicted_us, window_zone()) as service_date
    from aged
)
select
    operator,
    request_id,
    "window",
    received_at,
    stop_code,
    make_timestamp(answered_us) as answered_at,
    make_timestamp(observed_us) as observed_at,
    row_number,
    normal_label(p.linea) as line_label,
    p.linea as line_label_raw,
    ends_with(rtrim(p.linea), '/') as is_slash_variant,
    clean_text(p.destinazione) as destination,
    make_timestamp(predicted_us) as predicted_at,
    p.orario as clock_text,
    p.attesa as wait_text,
    wait_minutes,
    (predicted_us - observed_us) / 1e6 - wait_minutes * 60 as wait_gap_seconds,
    p.teorico as is_theoretical,
    p.pieno as is_full,
    coalesce(wait_minutes > 120, false) as is_wrapped,
    nullif(trim(p.id_corsa), '') as trip_id,
    service_date,
    seconds_into(predicted_us, day_start_us(service_date, window_zone())) as service_seconds,
    service_seconds // 3600 as service_hour,
    p.extra as extra
from dated
order by received_at, request_id, row_number
