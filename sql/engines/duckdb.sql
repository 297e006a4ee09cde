-- The functions of the models that DuckDB does not have, each with its meaning; spark.sql has them for Apache Spark.
-- Some are Spark's own: array_join, array_remove, arrays_overlap, collect_set, get_json_object, json_object_keys,
-- percentile and raise_error. A published file has those that its views call.

-- An instant as whole microseconds, for arithmetic that is the same in every run.
create or replace macro microseconds(instant) as epoch_us(instant);

-- Seconds from one instant to another, with their fraction.
create or replace macro seconds_between(first_at, second_at) as (epoch_us(second_at) - epoch_us(first_at)) / 1e6;

-- An instant moved by a number of seconds, to the nearest microsecond; of two that are as near, to the even one.
create or replace macro add_seconds(instant, seconds) as instant + seconds * interval '1 second';

-- How many days a date is after another.
create or replace macro days_between(first_date, second_date) as second_date - first_date;

-- The type of day that a date is: `weekday`, `saturday` or `sunday`.
create or replace macro weekday_type(day) as
    case isodow(day) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end;

-- A text in the form in which it is one part of a key: the separator of the parts is escaped.
create or replace macro key_part(part) as
    case
        when contains(part, '|') or contains(part, '\') then replace(replace(part, '\', '\\'), '|', '\|')
        else part
    end;

-- What stands for a missing text as one part of a key: no text in that form (key_part) is equal to it.
create or replace macro missing_part() as '\0';

-- A key of 128 bits made of a text; the same in every build.
create or replace macro key_of(parts) as cast(md5(parts) as uuid);

-- A pseudo-random number in [0, 1) made of a text: the same text gives the same number, in every engine. It also
-- decides which visits are in the audit sample: the rule and its text are those of transit_etl/collect/audit_draws.py.
create or replace macro chance(parts) as md5_number_upper(parts) / 18446744073709551616.0;

-- A list without the elements that are equal to a value.
create or replace macro array_remove(elements, value) as
    list_filter(elements, lambda kept_element: kept_element != value);

-- True if two lists have an element in common.
create or replace macro arrays_overlap(first_list, second_list) as list_has_any(first_list, second_list);

-- The texts of a list as one text.
create or replace macro array_join(elements, separator) as array_to_string(elements, separator);

-- A list as one text, sorted, so that upstream's order does not matter.
create or replace macro sorted_text(elements) as array_to_string(list_sort(elements), ', ');

-- Of the different elements of two lists, the share that both have; of two empty lists all.
create or replace macro common_share(first_list, second_list) as
    (len(list_intersect(first_list, second_list)) + 1e-9)
    / (len(list_distinct(list_concat(first_list, second_list))) + 1e-9);

-- The distinct values of a group as a list.
create or replace macro collect_set(value) as list(distinct value);

-- The quantile of a group's values: a share of them lies below it.
create or replace macro percentile(value, share) as quantile_cont(value, share);

-- A member of a JSON object kept as text, as text.
create or replace macro get_json_object(object, path) as object ->> path;

-- The keys of a JSON object kept as text, as a list.
create or replace macro json_object_keys(object) as json_keys(object);

-- The objects of a JSON list kept as text, as a list; a text that is no such list has none.
create or replace macro json_objects(list_text) as try(cast(json(list_text) as json[]));

-- Ends the statement with an error of this text.
create or replace macro raise_error(message) as error(message);

-- True if a whole text has the form of a regular expression.
create or replace macro has_form(whole_text, form) as regexp_full_match(whole_text, form);

-- True if a text has another in it; not null.
create or replace macro has_text(whole_text, part) as coalesce(contains(whole_text, part), false);

-- A text in the form in which words are looked for in it: lower case, without accents.
create or replace macro comparable_text(words) as lower(strip_accents(words));

-- Letters and digits only, upper case: destinations come with missing spaces, dots and apostrophes.
create or replace macro plain_text(words) as regexp_replace(upper(strip_accents(words)), '[^A-Z0-9]', '', 'g');

-- How alike two plain texts are: 1 if equal, 0.9 if one contains the other, 0.8 if nearly equal, else 0.
create or replace macro likeness(first_text, second_text) as
    case
        when first_text = '' or second_text = '' then 0.0
        when first_text = second_text then 1.0
        when contains(first_text, second_text) or contains(second_text, first_text) then 0.9
        when jaro_winkler_similarity(first_text, second_text) >= 0.88 then 0.8
        else 0.0
    end;

-- A line number or label in the form in which they are compared: `018` and `18`, `N1 ` and `n1` are one.
-- The rule and its text are those of transit_etl/line_labels.py.
create or replace macro normal_label(label) as
    nullif(regexp_replace(upper(trim(label)), '^0+([0-9A-Z])', '\1', 'g'), '');

-- The words of a text as a list, in the form in which they are compared; a missing text has none.
create or replace macro message_words(words) as
    regexp_extract_all(lower(strip_accents(coalesce(words, ''))), '[a-z0-9]+');

-- The words of a text as a list: upper case without accents, no markup, no clock times; a number keeps its slashes.
create or replace macro words_of(words) as
    regexp_extract_all(
        regexp_replace(
            regexp_replace(
                regexp_replace(upper(strip_accents(words)), '<[^>]*>', ' ', 'g'), '&([AEIOU])(GRAVE|ACUTE);', '\1', 'g'
            ),
            '[0-9]{1,2}[:.][0-9]{2}', ' ', 'g'
        ),
        '[A-Z0-9]+(/[0-9]+)*/?'
    );

-- The form of a line number as it stands in a text: `18`, `17/`, `N1`, `607R`.
create or replace macro line_label_form() as '[A-Z]{0,3}[0-9]{1,4}[A-Z]{0,2}/?';

-- The form of a line number, or of a line that has letters alone.
create or replace macro line_label_forms() as '(?:' || line_label_form() || '|[A-Z]{2,3}/?)';

-- The names in a list of lines of the service status, as a list: a text such as `Linee 12, 13 e 17/` is several line
-- numbers, any other text is one name.
create or replace macro names_in(lines) as
    flatten(list_transform(lines, lambda line_entry:
        case
            when regexp_full_match(
                upper(trim(line_entry)),
                '(LINE[AE] +)?' || line_label_forms() || '( *([,;+&]| E | - ) *' || line_label_forms() || ')*'
            ) then regexp_extract_all(regexp_replace(upper(line_entry), 'LINE[AE] ', '', 'g'), line_label_forms())
            else [trim(line_entry)]
        end
    ));

-- The names in a list of lines of the service status in the form in which they are compared.
create or replace macro line_keys(lines) as
    list_transform(
        names_in(lines),
        lambda line_name: normal_label(regexp_replace(strip_accents(line_name), ' +', ' ', 'g'))
    );

-- The name of a lift or other plant in the form in which names are compared: letters and digits in upper case, without
-- the word for what it is or an abbreviation of it: `Ascensore Castello`, `ASC. CASTELLO` and `castello` are one.
create or replace macro plant_key(plant_name) as
    regexp_replace(
        regexp_replace(
            trim(upper(strip_accents(plant_name))),
            '^((ASCENSOR[EI]|ASC|FUNICOLARE|FUN|CREMAGLIERA|IMPIANTO|ELEVATORE)[^A-Z0-9]+'
            || '|(ASC|FUN|CRE|IMP|ELE)[A-Z]*[.][^A-Z0-9]*)(DI |DEL |DELLA )?',
            '', 'g'
        ),
        '[^A-Z0-9]', '', 'g'
    );
