//! The expected values are those of C++ ROOT 6.40.

use super::interval::*;

#[track_caller]
fn near(found: f64, expected: f64, most: f64) {
    assert!((found - expected).abs() <= most * expected.abs(), "{found:e}, not {expected:e}");
}

/// Method, numbers of all entries and of those that passed, and the ends of the interval at 0.683.
const PASSED: &[(Interval, f64, f64, f64, f64)] = &[
    (Interval::ClopperPearson, 0.0, 0.0, 0.0, 1.0),
    (Interval::ClopperPearson, 5.0, 2.0, 0.1465671812042311, 0.7034850460620826),
    (Interval::ClopperPearson, 20.0, 19.0, 0.8441805667961038, 0.991408655086778),
    (Interval::ClopperPearson, 137.0, 1.0, 0.0012588366736361327, 0.02389199936178088),
    (Interval::ClopperPearson, 12345.0, 6789.0, 0.5454143475205233, 0.5544559754379117),
    (Interval::ClopperPearson, 2.5, 1.2, 0.10399408692908786, 0.8750824760953533),
    (Interval::ClopperPearson, 0.5, 0.2, 6.95253338414248e-05, 0.9983087671614798),
    (Interval::ClopperPearson, 4.0, 5.0, 0.0, 0.0),
    (Interval::FeldmanCousins, 0.0, 0.0, 9.313225746154785e-10, 0.9999999990686774),
    (Interval::FeldmanCousins, 5.0, 2.0, 0.1567608555778861, 0.7543013384565711),
    (Interval::FeldmanCousins, 20.0, 19.0, 0.8604580396786332, 0.9814817169681191),
    (Interval::FeldmanCousins, 137.0, 1.0, 0.002687850035727024, 0.02011429239064455),
    (Interval::FeldmanCousins, 2.5, 1.2, 0.5000000009313226, 0.8264381410554051),
    (Interval::FeldmanCousins, 0.5, 0.2, 0.9999999990686774, 0.9999999990686774),
    (Interval::FeldmanCousins, 4.0, 5.0, 0.9999999990686774, 0.9999999990686774),
    (Interval::MidP, 0.0, 0.0, 9.313225746154785e-10, 0.9999999990686774),
    (Interval::MidP, 5.0, 2.0, 0.19870490115135908, 0.6371339270845056),
    (Interval::MidP, 20.0, 19.0, 0.871656690724194, 0.9839439103379846),
    (Interval::MidP, 137.0, 1.0, 0.002347785048186779, 0.01953424047678709),
    (Interval::MidP, 12345.0, 6789.0, 0.5454547004774213, 0.5544156963005662),
    (Interval::MidP, 2.5, 1.2, 0.17731057573109865, 0.7957565290853381),
    (Interval::MidP, 0.5, 0.2, 0.20000000055879355, 0.9196087991818785),
    (Interval::MidP, 4.0, 5.0, 9.313225746154785e-10, 9.313225746154785e-10),
];

#[test]
fn intervals_of_counts_are_those_of_root() {
    for &(interval, total, passed, low, high) in PASSED {
        let found = interval.ends(total, passed, 0.683);
        near(found.0, low, 1e-13);
        near(found.1, high, 1e-13);
    }
}

/// Parameters, level, whether the interval is the shortest, and its ends.
const BETA: &[(f64, f64, f64, bool, f64, f64)] = &[
    (0.5, 0.5, 0.683, false, 0.060716423767802286, 0.9392835762321977),
    (0.5, 0.5, 0.683, true, 0.060716423767802286, 0.9392835762321977),
    (6789.5, 5556.5, 0.683, false, 0.5454548830613888, 0.5544155131204318),
    (6789.5, 5556.5, 0.683, true, 0.5454602724169019, 0.5544208959745556),
    (5.5, -0.5, 0.683, false, 0.0, 1.0),
    (5.5, -0.5, 0.683, true, 0.0, 1.0),
    (19.5, 1.5, 0.9973, false, 0.6730576756196865, 0.9992479967826989),
    (19.5, 1.5, 0.9973, true, 0.6986748081626462, 0.9999994785072233),
    (1.5, 136.5, 0.9973, false, 0.00010862808025805562, 0.05554780907896467),
    (1.5, 136.5, 0.9973, true, 4.0799174069317765e-08, 0.05044344528633056),
    (20.0, 2.0, 0.9973, false, 0.6474791202907849, 0.9974228596868504),
    (20.0, 2.0, 0.9973, true, 0.6723763604302565, 0.9998256385914229),
    (2.0, 137.0, 0.9973, false, 0.00038453631641799407, 0.06267993530365268),
    (2.0, 137.0, 0.9973, true, 1.857334834511603e-05, 0.05739359672149813),
    (21.5, 1.5, 0.9973, false, 0.6980372983705402, 0.9993171389747625),
    (21.5, 1.5, 0.9973, true, 0.7221165644579257, 0.9999995565994553),
    (3.5, 136.5, 0.9973, false, 0.002379138652533, 0.08203649117561074),
    (3.5, 136.5, 0.9973, true, 0.0010833369844875655, 0.07655511462414699),
    (19.01, 4.0, 0.9973, false, 0.5371241360482247, 0.9775329533924493),
    (19.01, 4.0, 0.9973, true, 0.5576026473340202, 0.9855135690023964),
    (1.01, 139.0, 0.9973, false, 1.0419775016334925e-05, 0.04660118142680029),
    (1.01, 139.0, 0.9973, true, 0.0, 0.04182851886846874),
];

#[test]
fn intervals_of_beta_distributions_are_those_of_root() {
    for &(a, b, level, shortest, low, high) in BETA {
        let found = beta_interval(a, b, level, shortest);
        if shortest {
            // ROOT stops when the length is exact to 1e-10; the ends are less exact then.
            assert!((found.0 - low).abs() < 3e-8 && (found.1 - high).abs() < 3e-8, "{found:?}");
            assert!(found.1 - found.0 < high - low + 1e-12, "{found:?} is longer");
        } else {
            near(found.0, low, 2e-12);
            near(found.1, high, 2e-12);
        }
    }
}

#[test]
fn large_and_small_numbers_keep_their_digits() {
    let ends = |total, passed| Interval::ClopperPearson.ends(total, passed, 0.683);
    for (found, expected, most) in [
        // Computed with 40 digits. The results of ROOT differ in the tenth.
        (ends(1e6, 3.0).0, 1.366_643_784_646_486e-6, 1e-14),
        (ends(1e6, 3.0).1, 5.919_848_444_333_428e-6, 1e-14),
        // All entries of a large number passed.
        (1.0 - ends(1e9, 1e9).0, 1.842_000_683_968_318_6e-9, 1e-6),
        (ends(1e9, 1e9).1, 1.0, 0.0),
        (ends(1e9, 5e8).0, 0.499_984_177_963_503_3, 1e-9),
    ] {
        near(found, expected, most);
    }
}

#[test]
fn nonsense_ends_somewhere() {
    let strange = [0.0, 1.0, -1.0, 0.5, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for total in strange {
        for passed in strange {
            for level in [0.683, 1.0, f64::NAN] {
                for interval in [Interval::ClopperPearson, Interval::FeldmanCousins, Interval::MidP] {
                    let _ = interval.ends(total, passed, level);
                }
                let _ =
                    (beta_interval(total, passed, level, false), beta_interval(total, passed, level, true));
            }
        }
    }
}
