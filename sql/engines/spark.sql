-- The functions of duckdb.sql for Apache Spark, which has no function of the name `strip_accents` either. Spark
-- calls none of them inside of a lambda, in what a query is sorted by, or to make rows of a list.

create or replace function microseconds(instant timestamp) returns bigint
    return unix_micros(instant);

create or replace function seconds_between(first_at timestamp, second_at timestamp) returns double
    return (unix_micros(second_at) - unix_micros(first_at)) / 1e6;

create or replace function add_seconds(instant timestamp, seconds double) returns timestamp
    return timestamp_micros(unix_micros(instant) + cast(rint(seconds * 1e6) as bigint));

create or replace function days_between(first_date date, second_date date) returns int
    return datediff(second_date, first_date);

create or replace function weekday_type(day date) returns string
    return case extract(dayofweek_iso from day) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end;

create or replace function key_part(part string) returns string
    return case
        when contains(part, '|') or contains(part, r'\') then replace(replace(part, r'\', r'\\'), '|', r'\|')
        else part
    end;

create or replace function missing_part() returns string
    return r'\0';

create or replace function key_of(parts string) returns string
    return regexp_replace(md5(parts), '^(.{8})(.{4})(.{4})(.{4})', '$1-$2-$3-$4-');

-- Of the first eight bytes the last one counts most.
create or replace function chance(parts string) returns double
    return transform(
        array(md5(parts)),
        digest -> cast(conv(concat(
            substr(digest, 15, 2), substr(digest, 13, 2), substr(digest, 11, 2), substr(digest, 9, 2),
            substr(digest, 7, 2), substr(digest, 5, 2), substr(digest, 3, 2), substr(digest, 1, 2)
        ), 16, 10) as double) / 18446744073709551616e0
    )[0];

create or replace function sorted_text(elements array<string>) returns string
    return array_join(array_sort(elements), ', ');

create or replace function common_share(first_list array<string>, second_list array<string>) returns double
    return (size(array_intersect(first_list, second_list)) + 1e-9)
        / (size(array_distinct(concat(first_list, second_list))) + 1e-9);

create or replace function json_objects(list_text string) returns array<string>
    return from_json(list_text, 'array<string>');

create or replace function has_form(whole_text string, form string) returns boolean
    return whole_text rlike concat(r'\A(?:', form, r')\z');

create or replace function has_text(whole_text string, part string) returns boolean
    return coalesce(contains(whole_text, part), false);

create or replace function accented_letters() returns string
    return 'ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĨĩĪīĬĭĮįİĴĵ'
        || 'ĶķĹĺĻļĽľŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽžƠơƯưǍǎǏǐǑǒǓǔǕǖǗǘǙǚǛǜǞǟǠǡǦǧǨǩǪǫǬǭǰǴǵǸǹǺǻ'
        || 'ȀȁȂȃȄȅȆȇȈȉȊȋȌȍȎȏȐȑȒȓȔȕȖȗȘșȚțȞȟȦȧȨȩȪȫȬȭȮȯȰȱȲȳḀḁḂḃḄḅḆḇḈḉḊḋḌḍḎḏḐḑḒḓḔḕḖḗḘḙḚḛḜḝḞḟḠḡḢḣḤḥḦḧḨḩḪḫḬḭḮḯḰḱḲḳḴḵḶḷ'
        || 'ḸḹḺḻḼḽḾḿṀṁṂṃṄṅṆṇṈṉṊṋṌṍṎṏṐṑṒṓṔṕṖṗṘṙṚṛṜṝṞṟṠṡṢṣṤṥṦṧṨṩṪṫṬṭṮṯṰṱṲṳṴṵṶṷṸṹṺṻṼṽṾṿẀẁẂẃẄẅẆẇẈẉẊẋẌẍẎẏẐẑẒẓẔẕẖẗẘẙẠạ'
        || 'ẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặẸẹẺẻẼẽẾếỀềỂểỄễỆệỈỉỊịỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợỤụỦủỨứỪừỬửỮữỰựỲỳỴỵỶỷỸỹ';

create or replace function plain_letters() returns string
    return 'AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyyAaAaAaCcCcCcCcDdEeEeEeEeEeGgGgGgGgHhIiIiIiIiIJj'
        || 'KkLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtUuUuUuUuUuUuWwYyYZzZzZzOoUuAaIiOoUuUuUuUuUuAaAaGgKkOoOojGgNnAa'
        || 'AaAaEeEeIiIiOoOoRrRrUuUuSsTtHhAaEeOoOoOoOoYyAaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLl'
        || 'LlLlLlMmMmMmNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSsSsSsSsTtTtTtTtUuUuUuUuUuVvVvWwWwWwWwWwXxXxYyZzZzZzhtwyAa'
        || 'AaAaAaAaAaAaAaAaAaAaAaEeEeEeEeEeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy';

create or replace function strip_accents(words string) returns string
    return translate(words, accented_letters(), plain_letters());

create or replace function comparable_text(words string) returns string
    return lower(strip_accents(words));

create or replace function plain_text(words string) returns string
    return regexp_replace(upper(strip_accents(words)), '[^A-Z0-9]', '');

create or replace function likeness(first_text string, second_text string) returns decimal(2, 1)
    return case
        when first_text = '' or second_text = '' then 0.0
        when first_text = second_text then 1.0
        when contains(first_text, second_text) or contains(second_text, first_text) then 0.9
        when jaro_winkler_similarity(first_text, second_text) >= 0.88 then 0.8
        else 0.0
    end;

create or replace function normal_label(label string) returns string
    return nullif(regexp_replace(upper(trim(label)), '^0+([0-9A-Z])', '$1'), '');

create or replace function message_words(words string) returns array<string>
    return regexp_extract_all(lower(strip_accents(coalesce(words, ''))), '[a-z0-9]+', 0);

create or replace function words_of(words string) returns array<string>
    return regexp_extract_all(
        regexp_replace(
            regexp_replace(
                regexp_replace(upper(strip_accents(words)), '<[^>]*>', ' '), '&([AEIOU])(GRAVE|ACUTE);', '$1'
            ),
            '[0-9]{1,2}[:.][0-9]{2}', ' '
        ),
        '[A-Z0-9]+(/[0-9]+)*/?', 0
    );

create or replace function line_label_form() returns string
    return '[A-Z]{0,3}[0-9]{1,4}[A-Z]{0,2}/?';

-- What names_in and line_keys share, as Spark allows no function of ours around a lambda. With `accented` and `plain`, the
-- letters with accents and those that take their place, names are in the form in which they are compared.
create or replace function names_by(lines array<string>, label string, accented string, plain string)
    returns array<string>
    return transform(
        flatten(transform(lines, line_entry ->
            case
                when upper(trim(line_entry)) rlike concat(
                    r'\A(?:(LINE[AE] +)?', label, '( *([,;+&]| E | - ) *', label, r')*)\z'
                ) then regexp_extract_all(regexp_replace(upper(line_entry), 'LINE[AE] ', ''), label, 0)
                else array(trim(line_entry))
            end
        )),
        line_name -> case
            when accented is null then line_name
            else nullif(regexp_replace(
                upper(trim(regexp_replace(translate(line_name, accented, plain), ' +', ' '))), '^0+([0-9A-Z])', '$1'
            ), '')
        end
    );

create or replace function line_label_forms() returns string
    return concat('(?:', line_label_form(), '|[A-Z]{2,3}/?)');

create or replace function names_in(lines array<string>) returns array<string>
    return names_by(lines, line_label_forms(), null, null);

create or replace function line_keys(lines array<string>) returns array<string>
    return names_by(lines, line_label_forms(), accented_letters(), plain_letters());

create or replace function plant_key(plant_name string) returns string
    return regexp_replace(
        regexp_replace(
            trim(upper(strip_accents(plant_name))),
            '^((ASCENSOR[EI]|ASC|FUNICOLARE|FUN|CREMAGLIERA|IMPIANTO|ELEVATORE)[^A-Z0-9]+'
            || '|(ASC|FUN|CRE|IMP|ELE)[A-Z]*[.][^A-Z0-9]*)(DI |DEL |DELLA )?',
            ''
        ),
        '[^A-Z0-9]', ''
    );
